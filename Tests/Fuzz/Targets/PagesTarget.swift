// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding

import ShipCompression
import StoreEncoding
import StoreFormat

/// The bytes are a store: its canonical form is made, then it is taken apart as it is.
enum PagesTarget {
    static func run(_ input: [UInt8]) {
        guard let pages = try? FuzzPages(input) else { return }
        let form = FuzzPages(pageSize: pages.pageSize, mostPages: 2 * pages.pageCount + 64)
        do {
            try CanonicalForm.write(of: pages, to: form)
            let again = FuzzPages(pageSize: form.pageSize, mostPages: form.pageCount)
            try CanonicalForm.write(of: form, to: again)
            precondition(again.bytes == form.bytes, "the canonical form of the canonical form is another")
        } catch let flaw as StoreFlaw {
            precondition(form.isUnfinished, "no canonical form of the canonical form: \(flaw)")
        } catch {
            fatalError("\(error)")
        }
        precondition(pages.reads <= 4 * Int(pages.pageCount) + 8, "pages are read again and again")

        pages.reads = 0
        do {
            try StoreWalk.run(over: pages, shapes: [:]) { content in
                _ = try? content.encoded(SegmentEffort(.fastest))
            }
        } catch is StoreFlaw {
        } catch {
            fatalError("\(error)")
        }
        precondition(pages.reads <= 4 * Int(pages.pageCount) + 8, "pages are walked again and again")
    }
}
