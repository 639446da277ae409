import StoreFiles
import Synchronization
import Testing

@Suite struct DecodedOnceTests {
    @Test func `the same bytes are decoded once, and other bytes are never taken for them`() throws {
        struct Broken: Error {}
        let decoded = DecodedOnce<String>()
        let count = Mutex(0)
        func value(_ text: String) -> String {
            decoded.value(of: Array(text.utf8)) { bytes in
                count.withLock { $0 += 1 }
                return String(decoding: bytes, as: UTF8.self)
            }
        }
        #expect(["a", "b", "a", "b", "a"].map(value) == ["a", "b", "a", "b", "a"])
        #expect(count.withLock { $0 } == 2)
        // Few are kept.
        for text in ["c", "d", "e", "f", "a"] { #expect(value(text) == text) }
        #expect(count.withLock { $0 } == 7)
        #expect(throws: Broken.self) { try decoded.value(of: [9]) { (_) throws(Broken) in throw Broken() } }
        #expect(value("\u{9}") == "\u{9}")
    }
}
