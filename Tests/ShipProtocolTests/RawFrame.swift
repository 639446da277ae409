import ShipProtocol

/// A frame as somebody else would write it: any type, any payload, with the right checksum.
func rawFrame(_ type: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    var bytes = [type]
    bytes.append(bigEndian: UInt32(payload.count))
    bytes += payload
    bytes.append(bigEndian: UInt32(crc32Of: bytes))
    return bytes
}

/// The one frame that follows a preamble.
///
/// - Parameter offer: What it answers.
func frame(_ type: FrameType, _ payload: [UInt8], answering offer: [ManifestContent] = []) throws -> Frame? {
    var parser = FrameParser()
    parser.offer = offer
    parser.append(Preamble(role: .producer, mode: .twoWay).encoded + rawFrame(type.rawValue, payload))
    _ = try parser.next()
    guard case .frame(let frame) = try parser.next() else { return nil }
    try parser.finish()
    return frame
}

/// A message, not deflated.
func frame(_ type: FrameType, json: String) throws -> Frame? {
    let isPacked = [.hello, .manifest, .answer, .receipt].contains(type)
    return try frame(type, (isPacked ? [0] : []) + Array(json.utf8))
}
