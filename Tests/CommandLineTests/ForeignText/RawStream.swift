import ShipProtocol

/// What a side that is not ours would write: frames of any payload, with the right checksums.
enum RawStream {
    static func frame(_ type: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
        var bytes = [type] + word(UInt32(payload.count))
        bytes += payload
        return bytes + word(UInt32(crc32Of: bytes))
    }

    static func frame(_ type: FrameType, json: [UInt8]) -> [UInt8] {
        let isPacked = [.hello, .manifest, .answer, .receipt].contains(type)
        return frame(type.rawValue, (isPacked ? [0] : []) + json)
    }

    private static func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    /// A whole shipment in frames.
    struct Frames {
        let preamble: [UInt8]
        private(set) var frames: [(type: UInt8, payload: [UInt8])] = []

        init(_ stream: [UInt8]) {
            preamble = Array(stream.prefix(Preamble.size))
            var rest = stream.dropFirst(Preamble.size)
            while rest.count >= 9 {
                let length = rest.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
                frames.append((rest[rest.startIndex], Array(rest.dropFirst(5).prefix(length))))
                rest = rest.dropFirst(9 + length)
            }
        }

        /// The manifest, as JSON.
        func manifest() throws -> [UInt8] {
            var parser = FrameParser()
            parser.append(preamble)
            for frame in frames { parser.append(RawStream.frame(frame.type, frame.payload)) }
            while let element = try parser.next() {
                if case .frame(.manifest(let manifest)) = element { return manifest.jsonBytes }
            }
            return []
        }

        /// The stream with another manifest.
        func stream(withManifest json: [UInt8]) -> [UInt8] {
            preamble
                + frames.flatMap { frame in
                    frame.type == FrameType.manifest.rawValue
                        ? RawStream.frame(.manifest, json: json) : RawStream.frame(frame.type, frame.payload)
                }
        }
    }
}
