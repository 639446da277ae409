/// Byte strings within one buffer, which they may share.
struct Strings {
    var bytes: [UInt8]
    var starts: [Int32] = []
    var lengths: [Int32] = []

    init(in bytes: [UInt8] = []) { self.bytes = bytes }

    var count: Int { starts.count }

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

    /// Adds all strings to `text`, back to back.
    ///
    /// - Parameter end: What follows each of them.
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
}
