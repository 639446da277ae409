/// A frame that says nothing, and makes what is written with it as long as other things that could have been: who sees sizes on the
/// line then learns less from them.
///
/// Source: `Protocol/README.md` section 3.7.
package enum Padding {
    /// All that is written at once has a multiple of so many bytes.
    package static let step = 4096
    /// It may be passed over, and is.
    static let type: UInt8 = 0x82
    private static let smallest = FrameHeader.size + 4

    /// - Parameter count: Bytes that are to be written.
    /// - Returns: What is to go before them: after the last END nothing may follow.
    package static func frame(before count: Int) -> [UInt8] {
        var size = (step - count % step) % step
        if size == 0 { return [] }
        if size < smallest { size += step }
        var bytes = [type]
        bytes.append(bigEndian: UInt32(size - smallest))
        bytes += [UInt8](repeating: 0, count: size - smallest)
        bytes.append(bigEndian: Checksum.crc32(of: bytes))
        return bytes
    }
}
