import ShipCompression
import ShipProtocol
import StoreFiles
import TestSupport

extension ProtocolVector {
    /// What it has as an external file that is held.
    var externalFiles: [ContentDigest: [UInt8]] {
        let files = sections.filter { $0.label == "file" }.map(\.bytes)
        return Dictionary(files.map { (ContentDigest(hashing: $0), $0) }) { first, _ in first }
    }

    /// Of everything that any vector ships in blocks, and of nothing.
    static let contents: [ContentDigest: [UInt8]] = {
        var found: [ContentDigest: [UInt8]] = [ContentDigest(hashing: []): []]
        for vector in (try? ProtocolVector.all(.dialogue) + ProtocolVector.all(.stream)) ?? [] {
            for section in vector.sections where ["producer", ""].contains(section.label) {
                for content in blocks(in: section.bytes) { found[ContentDigest(hashing: content)] = content }
            }
        }
        return found
    }()

    /// What the blocks of a producer's bytes decode to, of parts that are whole.
    private static func blocks(in bytes: [UInt8]) -> [[UInt8]] {
        var (parser, contents, content) = (FrameParser(), [[UInt8]](), [UInt8]())
        var decoder = BlockDecoder(size: .max)
        // What goes on in the midst of a session has no preamble.
        if !bytes.starts(with: Preamble(role: .producer, mode: .twoWay).encoded.prefix(8)) {
            parser.append(Preamble(role: .producer, mode: .twoWay).encoded)
        }
        parser.append(bytes)
        while let element = try? parser.next() {
            guard case .frame(.data(let data)) = element else {
                (decoder, content) = (BlockDecoder(size: .max), [])
                continue
            }
            content += (try? decoder.decode(data.bytes, isLast: false)) ?? []
            if data.isLast { contents.append(content) }
        }
        return contents
    }
}
