import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

@Suite struct SegmentVectorTests {
    @Test(arguments: try ProtocolVector.all(.segment))
    func `a segment gives what its vector says`(vector: ProtocolVector) throws {
        let asked = (vector["asks"] ?? "").split(separator: " ")
        do {
            let found = try Self.read(vector.bytes, asking: asked)
            #expect(vector.error == nil, "it is taken")
            #expect(found.lines == vector.fields.filter { $0.key != "asks" })
            #expect(found.bytes == vector.sections.filter { !$0.label.isEmpty }.map(\.bytes))
        } catch CompressionError.damaged {
            #expect(vector.error == "damaged")
        }
    }

    /// - Throws: `.damaged`, also if something is left over.
    private static func read(
        _ segment: [UInt8], asking asked: [Substring]
    ) throws -> (lines: [ProtocolVector.Field], bytes: [[UInt8]]) {
        var reader = try SegmentReader(decoding: segment)
        var lines: [ProtocolVector.Field] = []
        var bytes: [[UInt8]] = []
        for thing in asked where thing != "nothing" {
            switch thing {
            case "number": lines.append(.init(key: "number", value: "\(try reader.number())"))
            case "chunk":
                bytes.append(try reader.bytes())
                lines.append(.init(key: "chunk", value: "\(bytes.last?.count ?? 0)"))
            default:
                let rows = try reader.rows()
                bytes.append(rows.records)
                lines.append(.init(key: "rows", value: "\(rows.ends.count)"))
                guard let rowids = rows.rowids else { continue }
                lines.append(.init(key: "rowids", value: rowids.map { "\($0)" }.joined(separator: " ")))
            }
        }
        guard reader.isAtEnd else { throw CompressionError.damaged(.trailingBytes) }
        return (lines, bytes)
    }
}
