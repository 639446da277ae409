import ShipProtocol
import TestSupport

/// What waits of a shipment that broke off, as a vector has it.
struct WaitingShipment {
    /// Of its manifest.
    let content: ManifestContent
    let manifest: Manifest
    /// Parts that are complete.
    private(set) var whole: [[UInt8]] = []
    private(set) var streams: [Stream] = []

    /// Of the part that was open.
    struct Stream {
        let encoding: PartEncoding
        let part: Manifest.Part
        let base: ContentDigest?
        /// The data of each DATA; of the last there may be fewer bytes than it has.
        let pieces: [(data: [UInt8], size: Int)]
        let count: Int
    }

    /// The sections that are neither side's.
    static let labels: Set = ["unfinished", "whole", "opening", "over", "stream"]

    static func all(in vector: ProtocolVector) throws -> [WaitingShipment] {
        var (found, opening, base) = ([WaitingShipment](), PartOpening?.none, ContentDigest?.none)
        for section in vector.sections {
            switch section.label {
            case "unfinished": found.append(try WaitingShipment(section.bytes))
            case "whole": found[found.count - 1].whole.append(section.bytes)
            case "opening": (opening, base) = (try PartOpening(decoding: section.bytes[...]), nil)
            case "over": base = ContentDigest(bytes: section.bytes)
            case "stream":
                guard let opening, let encoding = PartEncoding(rawValue: opening.encoding) else { continue }
                found[found.count - 1].add(section.bytes, opening, encoding, over: base)
            default: break
            }
        }
        return found
    }

    private init(_ json: [UInt8]) throws {
        content = ManifestContent(json: json)
        let circumstances = #""createdAt":"2026-11-20T00:00:00Z","producer":{"software":"s","sqlite":"3.40.1"},"#
        manifest = try Manifest(decoding: Array("{".utf8) + Array(circumstances.utf8) + json.dropFirst())
    }

    private mutating func add(
        _ bytes: [UInt8], _ opening: PartOpening, _ encoding: PartEncoding, over base: ContentDigest?
    ) {
        var (pieces, rest) = ([(data: [UInt8], size: Int)](), bytes[...])
        while rest.count > 4 {
            let size = Int(rest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
            rest = rest.dropFirst(4)
            pieces.append((Array(rest.prefix(size)), size))
            rest = rest.dropFirst(size)
        }
        streams.append(
            Stream(
                encoding: encoding, part: manifest.parts[Int(opening.part)], base: base, pieces: pieces,
                count: bytes.count))
    }
}

extension WaitingShipment.Stream {
    /// Its first bytes.
    func prefix(_ count: Int64) -> [(data: [UInt8], size: Int)] {
        var (left, found) = (Int(count), [(data: [UInt8], size: Int)]())
        for piece in pieces where left > 4 {
            found.append((Array(piece.data.prefix(left - 4)), piece.size))
            left -= 4 + min(piece.data.count, left - 4)
        }
        return found
    }
}
