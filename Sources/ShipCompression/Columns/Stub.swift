package import StoreFormat

package struct RowGroup: Sendable {
    package var rowids: [Int64]?
    package var records: [UInt8] = []
    package var ends: [Int] = []
    package init(rowids: [Int64]? = nil) { self.rowids = rowids }
}
package enum SegmentEffort: Sendable { case fast, standard, smallest }
package struct SegmentWriter {
    var out: [UInt8] = []
    package init(effort: SegmentEffort, integers: IntegerForm) {}
    package mutating func number(_ n: UInt64) { Varint.append(n, to: &out) }
    package mutating func bytes(_ b: [UInt8]) { number(UInt64(b.count)); out += b }
    package mutating func rows(_ r: RowGroup) throws {
        number(r.rowids == nil ? 0 : 1); number(UInt64(r.ends.count))
        for x in r.rowids ?? [] { number(UInt64(bitPattern: x)) }
        for e in r.ends { number(UInt64(e)) }
        bytes(r.records)
    }
    package consuming func finish() throws -> [UInt8] { out }
}
package struct SegmentReader {
    let input: [UInt8]; var at = 0
    package var integers: IntegerForm
    package init(decoding: [UInt8], integers: IntegerForm) throws { input = decoding; self.integers = integers }
    package var isAtEnd: Bool { at >= input.count }
    package mutating func number() throws -> UInt64 {
        var a = at; guard let n = Varint.read(input.span, at: &a) else { throw CompressionError.damaged(.rows) };
        at = a; return n
    }
    package mutating func bytes() throws -> [UInt8] {
        let n = Int(try number()); guard n <= input.count - at else { throw CompressionError.damaged(.rows) }; at += n;
        return Array(input[(at - n)..<at])
    }
    package mutating func rows() throws -> RowGroup {
        var g = RowGroup(rowids: try number() == 1 ? [] : nil)
        let n = Int(try number())
        if g.rowids != nil { for _ in 0..<n { g.rowids?.append(Int64(bitPattern: try number())) } }
        for _ in 0..<n { g.ends.append(Int(try number())) }
        g.records = try bytes()
        return g
    }
}
