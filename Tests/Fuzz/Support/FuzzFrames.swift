import ShipProtocol

/// Streams whose checksums and magic bytes are right, which a fuzzer would hardly ever find.
enum FuzzFrames {
    static func frame(_ type: UInt8, _ payload: some Collection<UInt8>) -> [UInt8] {
        var bytes = [type] + bigEndian(UInt32(clamping: payload.count)) + payload
        bytes += bigEndian(UInt32(crc32Of: bytes))
        return bytes
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    /// What a stream is made of, cut from pieces of `size` bytes, and the error with which it ended.
    static func elements(of stream: [UInt8], inPiecesOf size: Int) -> ([FrameParser.Element], ProtocolError?) {
        var parser = FrameParser()
        var elements: [FrameParser.Element] = []
        do throws(ProtocolError) {
            for start in stride(from: 0, to: stream.count, by: size) {
                parser.append(Array(stream[start..<min(stream.count, start + size)]))
                while let element = try parser.next() { elements.append(element) }
            }
            try parser.finish()
            return (elements, nil)
        } catch {
            return (elements, error)
        }
    }
}
