import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import StoreFiles

@Suite struct PageFileTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func file(_ name: String, _ bytes: [UInt8]) throws -> OpenFile {
        let file = try OpenFile.creating(scratch.path.appending(name))
        try file.write(bytes)
        return file
    }

    /// What a clone has from its base is not written: in place of the clone stands a file of marks here, which stay where nothing is written.
    @Test(arguments: 1...40) func `a clone is written where it differs, and nowhere else`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let size = [512, 4096, 65_536].randomElement(using: &random) ?? 512
        func page() -> [UInt8] { Array(repeating: random.next(in: 1...3), count: size) }
        let base = (0..<Int.random(in: 1...60, using: &random)).map { _ in page() }
        let mark = [UInt8](repeating: 9, count: size)
        let made = try PageFile(
            writing: file("clone", base.flatMap { _ in mark }), cloneOf: file("base", base.flatMap(\.self)),
            pageSize: size)
        var (written, expected) = ([Int: [UInt8]](), base.map { _ in mark })
        let count = Int.random(in: 1...80, using: &random)
        expected += Array(repeating: Array(repeating: 0, count: size), count: max(0, count - base.count))
        var next = Int.random(in: 0..<count, using: &random)
        for _ in 0..<150 {
            let bytes = next < base.count && Bool.random(using: &random) ? base[next] : page()
            try made.write(bytes, number: UInt32(next + 1))
            written[next] = bytes
            if next >= base.count || bytes != base[next] || expected[next] != mark { expected[next] = bytes }
            if random.next(in: 0...4) == 0 {
                // What is read is what would be there, had all been written.
                var found = mark
                try made.read(UInt32(next + 1), into: &found)
                let isSame = found == bytes
                #expect(isSame, "page \(next)")
            }
            next = random.next(in: 0...9) < 7 ? (next + 1) % count : Int.random(in: 0..<count, using: &random)
        }
        try made.finish()
        let highest = try #require(written.keys.max())
        let found = try OpenFile.reading(scratch.path.appending("clone")).read(size * 200, at: 0)
        #expect(found.count == (highest + 1) * size)
        for (index, bytes) in expected.prefix(highest + 1).enumerated() {
            let isSame = found[(index * size)..<((index + 1) * size)].elementsEqual(bytes)
            #expect(isSame, "page \(index)")
        }
    }

    @Test func `a pointer map page whose entries all come late has nothing else in it`() throws {
        let (size, mark) = (512, [UInt8](repeating: 9, count: 512 * 8))
        let made = try PageFile(writing: file("clone", mark), cloneOf: file("base", mark), pageSize: size)
        try made.writePointer((5, 1), map: 6, offset: 10)
        try made.writePointer((3, 7), map: 2, offset: 5)
        try made.finish()
        let found = try OpenFile.reading(scratch.path.appending("clone")).read(size, at: Int64(size))
        #expect(found == [0, 0, 0, 0, 0, 3, 0, 0, 0, 7] + Array(repeating: 0, count: size - 10))
    }

    @Test(arguments: ["sole", "open", "mapped", "linked", "missing"])
    func `a file that somebody may still have is not written over`(state: String) throws {
        let (path, bytes) = (scratch.path.appending("file"), [UInt8](repeating: 9, count: 8192))
        let tells = try state == "missing" || file("file", bytes).isUnshared
        let reader = try state == "open" ? FileHandle(forReadingFrom: URL(filePath: path.string)) : nil
        let map = try state == "mapped" ? Data(contentsOf: URL(filePath: path.string), options: .alwaysMapped) : nil
        let link = scratch.path.appending("link")
        if state == "linked" { try FileManager.default.linkItem(atPath: path.string, toPath: link.string) }
        guard state != "missing" else {
            #expect(throws: FileError.self) { _ = try OpenFile.reusing(path) }
            return
        }
        let identity = try PlatformCalls.status(of: path).identity
        switch try OpenFile.reusing(path) {
        case .some(let file):
            let isSame = try file.status.identity == identity
            #expect(isSame && state == "sole")
        case .none: #expect(state != "sole" || !tells)
        }
        #expect(try PlatformCalls.isThere(path) == (state == "sole" && tells))
        #expect(try reader.map { try $0.readToEnd() == Data(bytes) } ?? true)
        #expect(map.map { Array($0) == bytes } ?? true)
        if state == "linked" { #expect(try OpenFile.reading(link).read(8192, at: 0) == bytes) }
    }
}

extension RepeatableRandom {
    fileprivate mutating func next(in range: ClosedRange<UInt8>) -> UInt8 { .random(in: range, using: &self) }
}
