import StoreFormat
import TestSupport
import Testing

@Suite struct PagesAheadTests {
    /// The file changes now and then, and may be shorter than it was said to be.
    @Test(arguments: 1...60) func `what is read ahead is what the file has`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let size = [512, 4096, 65_536].randomElement(using: &random) ?? 512
        let count = Int.random(in: 1...200, using: &random)
        var file = (0..<count).flatMap { [UInt8](repeating: UInt8($0), count: size) }
        file.removeLast(Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<file.count, using: &random) : 0)
        var ahead = PagesAhead(pageSize: size)
        var (calls, reads) = (0, 0)
        func read(_ bytes: inout [UInt8], _ offset: Int64) -> Int {
            calls += 1
            let found = file.dropFirst(Int(offset)).prefix(bytes.count)
            bytes.replaceSubrange(0..<found.count, with: found)
            return found.count
        }
        var next = 0
        for _ in 0..<400 {
            if Int.random(in: 0..<60, using: &random) == 0, !file.isEmpty {
                file[Int.random(in: file.indices, using: &random)] ^= 1
                ahead.forget()
            }
            let isWhole = Int.random(in: 0..<20, using: &random) != 0
            var page = [UInt8](repeating: 201, count: isWhole ? size : 4)
            let isRead = try ahead.read(UInt32(next + 1), of: UInt32(count - next), into: &page, read)
            reads += 1
            let expected = file.dropFirst(next * size).prefix(page.count)
            #expect(isRead == (expected.count == page.count), "seed \(seed), page \(next)")
            if isRead { #expect(page.elementsEqual(expected), "seed \(seed), page \(next)") }
            next =
                Int.random(in: 0..<30, using: &random) == 0
                ? Int.random(in: 0..<count, using: &random) : (next + 1) % count
        }
        if size == 512, count > 100, file.count == count * size { #expect(calls < reads / 2, "seed \(seed)") }
    }
}
