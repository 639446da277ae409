import ShipProtocol
import ShipStore
import ShipTransport
import SystemPackage

/// A publication that a web server shows.
///
/// Source: `Protocol/PUBLISHED.md` section 5.
struct WebPublication: PublicationReader {
    private let address: WebAddress
    private let client: WebClient
    private let timeouts: Timeouts

    private var place: Endpoint { .web(address) }

    /// How long the head may take.
    private static let headLimit = Duration.seconds(60)

    init(
        at address: WebAddress, _ timeouts: Timeouts, trusting authorities: FilePath?, _ retries: Retries = Retries()
    ) {
        (self.address, self.timeouts) = (address, timeouts)
        client = WebClient(connectTimeout: timeouts.connect, idle: timeouts.idle, trusting: authorities, retries)
    }

    func head(unlike tag: String?, fresh isFresh: Bool) async throws -> FetchedHead {
        var headers: [(String, String)] = []
        if let tag, !tag.isEmpty { headers.append(("If-None-Match", tag)) }
        if isFresh { headers.append(("Cache-Control", "no-cache")) }
        var (found, bytes): (FetchedHead?, [UInt8]) = (nil, [])
        var newTag = ""
        try await get(
            "head", headers, within: Self.headLimit,
            taking: { response in
                switch response.status {
                case 200:
                    try checkEncoding(of: response)
                    newTag = response["ETag"] ?? ""
                    return true
                case 304 where tag != nil: found = .unchanged
                case 404, 410: found = FetchedHead.none
                default: throw PublicationError.status(place, response.status)
                }
                return false
            },
            { piece in
                bytes += piece.prefix(Limits.headSize + 1 - bytes.count)
                return bytes.count <= Limits.headSize
            },
            resuming: { _ in
                bytes = []
                return true
            })
        return found ?? .head(bytes, tag: newTag)
    }

    func object(
        _ digest: ContentDigest, from offset: Int64, upTo limit: Int64, _ take: (Int64, [UInt8]) throws -> Void
    ) async throws {
        var known = offset
        do {
            try await object(digest, from: &known, limit, take)
        } catch PublicationError.status(_, 416) where known > 0 {
            // There is no more of it, or the server knows no ranges.
            known = 0
            try await object(digest, from: &known, limit, take)
        }
    }

    private func object(
        _ digest: ContentDigest, from offset: inout Int64, _ limit: Int64, _ take: (Int64, [UInt8]) throws -> Void
    ) async throws {
        var position: Int64 = 0
        try await get(
            "objects/\(digest.hex)", from: offset, within: timeouts.longest(for: limit - offset),
            taking: { response in
                switch response.status {
                case 200, 206: break
                case 404, 410: throw PublicationError.objectGone(place, digest)
                default: throw PublicationError.status(place, response.status)
                }
                try checkEncoding(of: response)
                // Some answer 200 to a range and send only that.
                position = try response.start(notAfter: offset, at: place)
                return true
            },
            { piece in
                let taken = piece.prefix(Int(clamping: limit - position))
                try take(position, Array(taken))
                position += Int64(taken.count)
                offset = max(offset, position)
                return position < limit
            },
            resuming: { request in
                request.begin(at: offset)
                return true
            })
    }

    private func get(
        _ path: String, _ headers: [(String, String)] = [], from offset: Int64 = 0, within limit: Duration,
        taking takes: (WebClient.Response) throws -> Bool, _ take: ([UInt8]) throws -> Bool,
        resuming resume: (inout WebClient.Request) -> Bool
    ) async throws {
        do {
            // Some servers refuse who has no name, and some pack what they send to who does not object.
            let common = [("User-Agent", Software.name), ("Accept-Encoding", "identity")]
            var request = WebClient.Request("GET", WebTarget(path, at: address), common + headers)
            request.begin(at: offset)
            try await client.send(request, within: limit, taking: takes, take, resuming: resume)
        } catch LinkError.io(.badMessage) {
            throw PublicationError.badAnswer(place)
        }
    }

    /// A server that packs what it sends would change what has a digest.
    private func checkEncoding(of response: WebClient.Response) throws(PublicationError) {
        guard (response["Content-Encoding"] ?? "identity").lowercased() == "identity" else { throw .badAnswer(place) }
    }
}

extension Timeouts {
    /// How long so many bytes may take.
    func longest(for size: Int64) -> Duration {
        minimumRate > 0 ? .seconds(60) + .seconds(Double(max(0, size)) / Double(minimumRate)) : .seconds(7 * 24 * 3600)
    }
}
