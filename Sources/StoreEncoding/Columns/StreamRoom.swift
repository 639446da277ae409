/// The room that streams which go by their content take of a segment, or may take.
struct StreamRoom: Hashable {
    /// By how many bytes they are longer when they are inflated: they share the text of the segment with all other strings.
    var growth: Int
    /// How many bytes they stand for, at any depth.
    var content: Int

    static let none = StreamRoom(growth: 0, content: 0)
    /// An encoder takes some ten times as much memory.
    static let mostGrowth = 4 << 20
    /// Bytes of the text that are left for what other encodings add.
    private static let reserve = 1 << 19

    private init(growth: Int, content: Int) { (self.growth, self.content) = (growth, content) }

    /// All that a segment has with so many bytes of rows and chunks.
    init(besides contentSize: Int) {
        let text = SegmentLimits.textSize - Self.reserve - contentSize
        self.init(growth: max(0, min(Self.mostGrowth, text)), content: SegmentLimits.deflatedStrings)
    }

    /// - Parameters:
    ///   - content: What a stream stands for.
    ///   - string: The string that it is, or is in.
    mutating func add(_ content: [UInt8], of string: ArraySlice<UInt8>) {
        growth += max(0, content.count - string.count)
        self.content += content.count
    }

    static func += (left: inout StreamRoom, right: StreamRoom) {
        left.growth += right.growth
        left.content += right.content
    }

    static func -= (left: inout StreamRoom, right: StreamRoom) {
        left.growth -= right.growth
        left.content -= right.content
    }
}
