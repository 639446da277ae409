/// Byte strings within one buffer, which they may share.
struct Strings: Equatable {
    var bytes: [UInt8]
    var starts: [Int32] = []
    var lengths: [Int32] = []

    init(in bytes: [UInt8] = []) { self.bytes = bytes }

    var count: Int { starts.count }

    static func == (one: Strings, other: Strings) -> Bool {
        one.lengths == other.lengths && one.starts.indices.allSatisfy { one[$0] == other[$0] }
    }

    mutating func append(start: Int, length: Int) {
        starts.append(Int32(truncatingIfNeeded: start))
        lengths.append(Int32(truncatingIfNeeded: length))
    }

    /// Adds the string to the buffer too.
    mutating func append(_ string: some Sequence<UInt8>) {
        let start = bytes.count
        bytes += string
        append(start: start, length: bytes.count - start)
    }

    subscript(index: Int) -> ArraySlice<UInt8> {
        bytes[Int(starts[index])..<Int(starts[index]) + Int(lengths[index])]
    }

    var totalLength: Int { lengths.reduce(0) { $0 + Int($1) } }

    /// The strings at `indexes`, in the same buffer.
    func selecting(_ indexes: [Int]) -> Strings {
        var selected = Strings(in: bytes)
        for index in indexes { selected.append(start: Int(starts[index]), length: Int(lengths[index])) }
        return selected
    }

    /// The different ones; `nil` if they are mostly different, unless these are taken too.
    func distinct(ofMostlyDistinct takesAll: Bool = false) -> DistinctValues? {
        var column = ColumnValues()
        column.texts = self
        column.kinds = [UInt8](repeating: ColumnValues.textKind, count: count)
        return DistinctValues(column, ordinals: column.ordinals(), ofMostlyDistinct: takesAll)
    }

    /// Where those are that a search for matches can find, if they stand back to back from a place on, each with `end` bytes after it.
    func places(from first: Int, end: Int = 0) -> [Range<Int>] {
        var place = first
        return lengths.compactMap { length in
            defer { place += Int(length) + end }
            return length >= MatchSearch.keySize ? place..<place + Int(length) : nil
        }
    }

    /// Adds all strings to `text`, back to back, each with `end` after it.
    func append(to text: inout [UInt8], end: UInt8? = nil) {
        let ends = end == nil ? 0 : 1
        let size = totalLength + count * ends
        text.reserveCapacity(text.count + size)
        text += [UInt8](unsafeUninitializedCapacity: size) { target, filled in
            bytes.withUnsafeBytes { source in
                var place = 0
                for (start, length) in zip(starts, lengths) {
                    let string = UnsafeRawBufferPointer(rebasing: source[Int(start)..<Int(start) + Int(length)])
                    UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(target)[place...])
                        .copyMemory(from: string)
                    place += Int(length)
                    if let end {
                        target.initializeElement(at: place, to: end)
                        place += 1
                    }
                }
            }
            filled = size
        }
    }

    /// How many bytes the two strings begin with alike.
    func commonPrefix(_ first: Int, _ second: Int) -> Int {
        let limit = Int(min(lengths[first], lengths[second]))
        let (left, right) = (Int(starts[first]), Int(starts[second]))
        return bytes.withUnsafeBufferPointer { bytes in
            var length = 0
            while length < limit, bytes[left &+ length] == bytes[right &+ length] { length &+= 1 }
            return length
        }
    }

    /// A byte-stream split of strings of one length: all first bytes first, then all second bytes, and so on.
    func splitIntoByteStreams(length: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count * length) { split, size in
            bytes.withUnsafeBufferPointer { source in
                for (row, start) in starts.enumerated() {
                    for place in 0..<length { split[place &* count &+ row] = source[Int(start) &+ place] }
                }
            }
            size = count * length
        }
    }

    init(byteStreams bytes: ArraySlice<UInt8>, length: Int, count: Int) {
        self.init(in: [UInt8](repeating: 0, count: bytes.count))
        bytes.withUnsafeBufferPointer { bytes in
            self.bytes.withUnsafeMutableBufferPointer { output in
                for place in 0..<length {
                    for row in 0..<count { output[row &* length &+ place] = bytes[place &* count &+ row] }
                }
            }
        }
        for row in 0..<count { append(start: row * length, length: length) }
    }
}
