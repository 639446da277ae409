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

    let port: UInt16
    private let listener: RawSocket
    private let folder: FilePath
    private let manner: @Sendable (String) -> Manner
    private let requests = Mutex<[Request]>([])
    /// The first head that was shown.
    private let first = Mutex<[UInt8]?>(nil)
    private let isStopped = Atomic(false)

    /// - Parameter manner: Says how to answer a request for a path.
    init(_ folder: FilePath, _ manner: @escaping @Sendable (String) -> Manner = { _ in .plain }) throws {
        (listener, port) = try RawSocket.listening()
        (self.folder, self.manner) = (folder, manner)
        Thread.detachNewThread { [weak self, listener] in
            var connection = 0
            while let self, !self.isStopped.load(ordering: .relaxed) {
                guard let socket = try? listener.accepted() else { continue }
                connection += 1
                Thread.detachNewThread { [connection] in self.serve(socket, connection) }
            }
        }
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }

    var url: String { "http://127.0.0.1:\(port)/kitchen" }
    var log: [Request] { requests.withLock(\.self) }

    private func serve(_ socket: RawSocket, _ connection: Int) {
        while !isStopped.load(ordering: .relaxed), let bytes = socket.read(until: Array("\r\n\r\n".utf8)) {
            let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
            let path = lines[0].split(separator: " ").dropFirst().first.map(String.init) ?? ""
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { continue }
                headers[line[..<colon].lowercased()] = line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
            }
            let answer = answer(to: path, headers, manner(path))
            requests.withLock { requests in
                requests.append(
                    Request(
                        path: path, headers: headers, status: answer.status, connection: connection,
                        bytes: answer.bytes.count))
            }
            guard (try? socket.write(answer.bytes)) != nil, !answer.closes else { return }
        }
    }

    private struct Answer {
        var status: Int
        var bytes: [UInt8]
        var closes = false
    }

    private func answer(to path: String, _ headers: [String: String], _ manner: Manner) -> Answer {
        func answer(_ status: Int, _ fields: [String] = [], _ body: [UInt8] = [], closes: Bool = false) -> Answer {
            let head = ["HTTP/1.1 \(status) X"] + fields + (closes ? ["Connection: close"] : []) + ["", ""]
            return Answer(status: status, bytes: Array(head.joined(separator: "\r\n").utf8) + body, closes: closes)
        }
        func whole(_ status: Int, _ body: [UInt8], _ fields: [String] = []) -> Answer {
            answer(status, fields + ["Content-Length: \(body.count)"], body)
        }
        switch manner {
        case .notFound: return whole(404, Array("not here".utf8))
        case .tooMany: return whole(429, [], ["Retry-After: 1"])
        case .failing: return whole(503, Array("down".utf8))
        case .closingEarly: return Answer(status: 0, bytes: [], closes: true)
        case .nonsense: return Answer(status: 0, bytes: Array("what?\r\n\r\n".utf8), closes: true)
        case .without:
            return Answer(status: 200, bytes: Array("HTTP/1.1 200 X\r\nContent-Length: 9\r\n".utf8), closes: true)
        case .redirecting where !path.hasPrefix("/other"): return whole(302, [], ["Location: /other\(path)"])
        default: break
        }
        let name = path.replacing("/other", with: "").replacing("/kitchen/", with: "")
        guard !name.contains(".."),
            var body = try? Array(Data(contentsOf: URL(fileURLWithPath: folder.appending(name).string)))
        else { return whole(404, []) }
        if name == "head" {
            let first = first.withLock { first in
                if first == nil { first = body }
                return first ?? body
            }
            if manner == .stale { body = first }
        }
        let tag = "\"\(ContentDigest(hashing: body).hex.prefix(16))\""
        let shown = manner == .weakTag ? "W/" + tag : tag
        if manner != .withoutTag, headers["if-none-match"] == shown { return answer(304, ["ETag: \(shown)"]) }
        var (status, fields) = (200, manner == .withoutTag ? [] : ["ETag: \(shown)"])
        if let range = headers["range"], manner != .ignoringRanges {
            let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
            guard start < body.count else { return whole(416, [], ["Content-Range: bytes */\(body.count)"]) }
            fields.append("Content-Range: bytes \(start)-\(body.count - 1)/\(body.count)")
            body = Array(body[start...])
            status = manner == .rangeAsWhole ? 200 : 206
        }
        switch manner {
        case .closing: return answer(status, fields, body, closes: true)
        case .cut:
            let answer = whole(status, body, fields)
            return Answer(
                status: status, bytes: Array(answer.bytes.prefix(answer.bytes.count - 1 - body.count / 2)), closes: true
            )
        case .packed: return whole(status, body, fields + ["Content-Encoding: gzip"])
        case .chunked:
            var chunks: [UInt8] = []
            for start in stride(from: 0, to: body.count, by: 700) {
                let chunk = body[start..<min(start + 700, body.count)]
                chunks += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
            }
            return answer(status, fields + ["Transfer-Encoding: chunked"], chunks + Array("0\r\n\r\n".utf8))
        case .interim:
            let answer = whole(status, body, fields)
            return Answer(status: status, bytes: Array("HTTP/1.1 103 Early\r\nLink: x\r\n\r\n".utf8) + answer.bytes)
        default: return whole(status, body, fields)
        }
    }
}
