import CoreDataReading
import Foundation
import TestSupport
import Testing

/// Property lists that nobody vouches for.
@Suite struct PropertyListLimitTests {
    private func nested(_ depth: Int, _ format: PropertyListSerialization.PropertyListFormat) throws -> [UInt8] {
        var list: Any = ["end"]
        for _ in 1..<depth { list = [list] }
        return [UInt8](try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0))
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func `those of ordinary depth are read, and deeper ones are not`(
        format: PropertyListSerialization.PropertyListFormat
    ) throws {
        #expect(PropertyListValue(try nested(5, format)) != nil)
        #expect(PropertyListValue(try nested(100, format)) == nil)
    }

    @Test func `XML that only opens is not read`() {
        #expect(PropertyListValue(Array((0..<100_000).flatMap { _ in "<array>".utf8 })) == nil)
    }

    @Test func `nothing and rubbish are not read, and do not trap`() {
        #expect(PropertyListValue([]) == nil)
        #expect(PropertyListValue(Array("bplist00".utf8)) == nil)
        var generator = RepeatableRandom(seed: 1)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<80, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            _ = EditablePropertyList(Array("bplist00".utf8) + bytes)?.bytes
        }
    }

    /// Foundation's decoder would end the process.
    @Test(arguments: ["integer", "real", "string", "date", "data", "key"])
    func `XML that is no UTF-8 is not read`(tag: String) {
        func list(_ content: [UInt8]) -> [UInt8] {
            let value = tag == "key" ? [] : Array("<key>a</key>".utf8)
            let end = tag == "key" ? "<true/>" : ""
            return Array("<plist version=\"1.0\"><dict>".utf8) + value + Array("<\(tag)>".utf8) + content
                + Array("</\(tag)>\(end)</dict></plist>".utf8)
        }
        for content: [UInt8] in [[0x2D, 0x07, 0xFF, 0xFF], [0xC0], [0x31, 0xED, 0xA0, 0x80]] {
            #expect(PropertyListValue(list(content)) == nil)
        }
        #expect(tag != "integer" || PropertyListValue(list([0x31])) == .dictionary(["a": .integer(1)]))
    }

    /// A list of these objects, each given with its marker, the first at the top.
    private func list(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(bytes.count >> 16), UInt8(bytes.count >> 8 & 255), UInt8(bytes.count & 255)]
            bytes += object
        }
        func word(_ value: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(value >> (8 * $0) & 255) } }
        let table = bytes.count
        return bytes + offsets + [0, 0, 0, 0, 0, 0, 3, 1] + word(objects.count) + word(0) + word(table)
    }

    /// An array whose members are one array, whose members are one array: few bytes, and 20^5 values.
    @Test func `few bytes that stand for many values are not read`() {
        let levels = (0..<5).map { [0xaf, 0x10, 20] + [UInt8](repeating: UInt8($0 + 1), count: 20) }
        #expect(PropertyListValue(list(levels + [[0x09]])) == nil)
        #expect(PropertyListValue(list(Array(levels.suffix(2)).map { $0.map { $0 > 20 ? $0 : $0 } } + [[0x09]])) == nil)
        #expect(PropertyListValue(list([[0xa2, 1, 1], [0x09]])) == .array([.boolean(true), .boolean(true)]))
    }

    /// A text of a megabyte that an array names two hundred times.
    @Test func `few bytes that stand for many bytes are not read`() {
        let text = [0x5f, 0x12, 0x00, 0x10, 0x00, 0x00] + [UInt8](repeating: 0x61, count: 1 << 20)
        let many = [0xaf, 0x10, 200] + [UInt8](repeating: 1, count: 200)
        #expect(PropertyListValue(list([many, text])) == nil)
        #expect(PropertyListValue(list([[0xa2, 1, 1], text])) != nil)
    }

    @Test func `one that holds itself is not read`() {
        #expect(PropertyListValue(list([[0xa1, 0]])) == nil)
        #expect(EditablePropertyList(list([[0xd1, 1, 0], [0x51, 0x61]])) == nil)
    }

    @Test func `one that is too long is not read`() {
        let text = [0x4f, 0x12, 0x00, 0x50, 0x00, 0x00] + [UInt8](repeating: 0, count: 0x50_0000)
        #expect(PropertyListValue(list([text])) == nil)
    }

    @Test func `what is not whole is not read`() {
        for object: [UInt8] in [
            [0x5f], [0x5f, 0x10], [0x5f, 0x09], [0x53, 0x61], [0x13, 1, 2], [0x15, 1], [0x21, 0], [0x32], [0x70],
            [0xaf, 0x13, 0x7f, 255, 255, 255, 255, 255, 255, 255], [0xa1], [0xa1, 7], [0xd1, 0], [0x84, 1], [0xf0],
        ] {
            #expect(PropertyListValue(list([object])) == nil, "\(object)")
        }
    }
}
