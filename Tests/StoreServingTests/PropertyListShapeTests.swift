import CoreDataReading
import Foundation
import Testing

/// Property lists that nobody vouches for, before Foundation parses them.
@Suite struct PropertyListShapeTests {
    private func nested(_ depth: Int, _ format: PropertyListSerialization.PropertyListFormat) throws -> [UInt8] {
        var list: Any = ["end"]
        for _ in 1..<depth { list = [list] }
        return [UInt8](try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0))
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func `those of ordinary depth are read, and deeper ones are not`(
        format: PropertyListSerialization.PropertyListFormat
    ) throws {
        #expect(PropertyListShape.isModest(try nested(5, format)))
        #expect(!PropertyListShape.isModest(try nested(100, format)))
    }

    @Test func `XML that only opens is not`() {
        #expect(!PropertyListShape.isModest(Array((0..<100_000).flatMap { _ in "<array>".utf8 })))
    }

    @Test func `nothing and rubbish are not, and do not trap`() {
        #expect(!PropertyListShape.isModest([]))
        #expect(!PropertyListShape.isModest(Array("bplist00".utf8)))
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<80, using: &generator)).map { _ in UInt8.random(in: 0...255) }
            _ = PropertyListShape.isModest(Array("bplist00".utf8) + bytes)
        }
    }

    /// An array whose members are one array, whose members are one array: few bytes, and 60^5 values.
    @Test func `few bytes that stand for many values are not`() {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for level in 0..<5 {
            offsets.append(UInt8(bytes.count))
            bytes += [0xaf, 0x10, 20] + [UInt8](repeating: UInt8(level + 1), count: 20)
        }
        offsets.append(UInt8(bytes.count))
        bytes += [0x09]
        let table = UInt8(bytes.count)
        bytes += offsets
        func word(_ value: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, value] }
        bytes += [0, 0, 0, 0, 0, 0, 1, 1] + word(UInt8(offsets.count)) + word(0) + word(table)
        #expect(!PropertyListShape.isModest(bytes))
    }

    @Test func `one that holds itself is not`() {
        let list = Array("bplist00".utf8) + [0xa1, 0x00, 8]
        let trailer: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
        #expect(!PropertyListShape.isModest(list + trailer + [0, 0, 0, 0, 0, 0, 0, 10]))
    }
}
