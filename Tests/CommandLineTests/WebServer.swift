import Foundation
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport

/// A web server that shows a folder, in the manners of servers that there are, and of some that there should not be.
final class WebServer: Sendable {
    enum Manner: CaseIterable, Sendable {
        case plain, closing, withoutTag, weakTag, ignoringRanges, rangeAsWhole, chunked, interim, redirecting
        case notFound, tooMany, failing, cut, packed, closingEarly, nonsense, stale, without

        /// Whether a follower gets what it asks for.
        var serves: Bool {
            switch self {
            case .plain, .closing, .withoutTag, .weakTag, .ignoringRanges, .rangeAsWhole, .chunked, .interim,
                .redirecting:
                true
            case .notFound, .tooMany, .failing, .cut, .packed, .closingEarly, .nonsense, .stale, .without: false
            }
        }
    }

    /// What was asked for, and how it was answered.
    struct Request: Sendable {
        let path: String
        let headers: [String: String]
        let status: Int
        let connection: Int
        let bytes: Int
    }

    private let server: HTTPServer
    private let requests: Log

    private final class Log: Sendable { let all = Mutex<[Request]>([]) }

    /// - Parameter manner: Says how to answer a request for a path.
    init(_ folder: FilePath, _ manner: @escaping @Sendable (String) -> Manner = { _ in .plain }) throws {
        let (log, shown) = (Log(), FirstHead())
        requests = log
        server = try HTTPServer { request in
            // A proxy may leave the target as it was sent [RFC 9112 section 3.2.2].
            let path = request.target.replacing("http://\(request.headers["host"] ?? "")", with: "")
            let answer = Self.answer(to: path, request.headers, manner(path), folder, shown)
            log.all.withLock { requests in
                requests.append(
                    Request(
                        path: path, headers: request.headers, status: answer.status, connection: request.connection,
                        bytes: answer.bytes.count))
            }
            return answer
        }
    }

    func stop() { server.stop() }

    var port: UInt16 { server.port }
    var url: String { "http://127.0.0.1:\(port)/kitchen" }
    var log: [Request] { requests.all.withLock(\.self) }

    /// The first head that was shown.
    private final class FirstHead: Sendable { let bytes = Mutex<[UInt8]?>(nil) }

    private typealias Answer = HTTPServer.Answer

    private static func answer(
        to path: String, _ headers: [String: String], _ manner: Manner, _ folder: FilePath, _ shown: FirstHead
    ) -> Answer {
        switch manner {
        case .notFound: return Answer(404, [], Array("not here".utf8))
        case .tooMany: return Answer(429, ["Retry-After: 1"])
        case .failing: return Answer(503, [], Array("down".utf8))
        case .closingEarly: return Answer([], .closes)
        case .nonsense: return Answer(Array("what?\r\n\r\n".utf8), .closes)
        case .without: return Answer(Array("HTTP/1.1 200 X\r\nContent-Length: 9\r\n".utf8), .closes)
        case .redirecting where !path.hasPrefix("/other"): return Answer(302, ["Location: /other\(path)"])
        default: break
        }
        let name = path.replacing("/other", with: "").replacing("/kitchen/", with: "")
        guard !name.contains(".."),
            var body = try? Array(Data(contentsOf: URL(fileURLWithPath: folder.appending(name).string)))
        else { return Answer(404) }
        if name == "head" {
            let first = shown.bytes.withLock { first in
                if first == nil { first = body }
                return first ?? body
            }
            if manner == .stale { body = first }
        }
        let tag = "\"\(ContentDigest(hashing: body).hex.prefix(16))\""
        let told = manner == .weakTag ? "W/" + tag : tag
        if manner != .withoutTag, headers["if-none-match"] == told { return Answer(304, ["ETag: \(told)"]) }
        var (status, fields) = (200, manner == .withoutTag ? [] : ["ETag: \(told)"])
        if let range = headers["range"], manner != .ignoringRanges {
            let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
            guard start < body.count else { return Answer(416, ["Content-Range: bytes */\(body.count)"]) }
            fields.append("Content-Range: bytes \(start)-\(body.count - 1)/\(body.count)")
            body = Array(body[start...])
            status = manner == .rangeAsWhole ? 200 : 206
        }
        switch manner {
        case .closing: return Answer(status, fields + ["Connection: close"], nil, .closes).followed(by: body)
        case .cut:
            let answer = Answer(status, fields, body)
            return Answer(Array(answer.bytes.dropLast(1 + body.count / 2)), .closes)
        case .packed: return Answer(status, fields + ["Content-Encoding: gzip"], body)
        case .chunked:
            var chunks: [UInt8] = []
            for start in stride(from: 0, to: body.count, by: 700) {
                let chunk = body[start..<min(start + 700, body.count)]
                chunks += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
            }
            return Answer(status, fields + ["Transfer-Encoding: chunked"], nil).followed(
                by: chunks + Array("0\r\n\r\n".utf8))
        case .interim:
            var answer = Answer(status, fields, body)
            answer.bytes = Array("HTTP/1.1 103 Early\r\nLink: x\r\n\r\n".utf8) + answer.bytes
            return answer
        default: return Answer(status, fields, body)
        }
    }
}

extension HTTPServer.Answer {
    fileprivate func followed(by more: [UInt8]) -> HTTPServer.Answer {
        var answer = self
        answer.bytes += more
        return answer
    }
}
