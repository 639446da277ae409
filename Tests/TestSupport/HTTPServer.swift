import Foundation
import Synchronization

/// A web server on loopback that answers as a test says. It ends with its owner.
package final class HTTPServer: Sendable {
    package struct Request: Sendable {
        package let method: String
        /// As it was sent.
        package let target: String
        /// By names in lower case.
        package let headers: [String: String]
        package let body: [UInt8]
        /// Which connection it came over, from 1 on.
        package let connection: Int
    }

    package struct Answer: Sendable {
        package let status: Int
        package var bytes: [UInt8]
        package var end: End

        /// What becomes of the connection once the bytes are sent.
        package enum End: Sendable {
            case stays, closes
            /// Nothing more comes.
            case hangs
            /// The same again and again, as long as it is taken.
            case endless([UInt8])
            /// These bytes, and what comes, go to another port, and back.
            case tunnel(to: UInt16, [UInt8])
        }

        /// Any bytes, and the end.
        package init(_ bytes: [UInt8], _ end: End) { (status, self.bytes, self.end) = (0, bytes, end) }

        /// - Parameter body: `nil` where no length is to be told.
        package init(_ status: Int, _ fields: [String] = [], _ body: [UInt8]? = [], _ end: End = .stays) {
            let isEmpty = [204, 304].contains(status)
            let length = isEmpty ? [] : body.map { ["Content-Length: \($0.count)"] } ?? []
            let head = ["HTTP/1.1 \(status) X"] + fields + length + ["", ""]
            self.status = status
            bytes = Array(head.joined(separator: "\r\n").utf8) + (isEmpty ? [] : body ?? [])
            self.end = end
        }
    }

    package let port: UInt16
    private let isStopped: StopMark

    private final class StopMark: Sendable { let value = Atomic(false) }

    package init(_ answer: @escaping @Sendable (Request) -> Answer) throws {
        let (listener, port) = try RawSocket.listening()
        let mark = StopMark()
        (self.port, isStopped) = (port, mark)
        Thread.detachNewThread {
            var connection = 0
            while !mark.value.load(ordering: .relaxed) {
                guard let socket = try? listener.accepted() else { continue }
                connection += 1
                Thread.detachNewThread { [connection] in
                    while !mark.value.load(ordering: .relaxed), let request = Self.request(from: socket, connection) {
                        guard Self.send(answer(request), over: socket) else { return }
                    }
                }
            }
        }
    }

    deinit { stop() }

    package func stop() { isStopped.value.store(true, ordering: .relaxed) }

    private static func request(from socket: RawSocket, _ connection: Int) -> Request? {
        guard let bytes = socket.read(until: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
        }
        var (body, size) = ([UInt8](), Int(headers["content-length"] ?? "") ?? 0)
        while size > 0 {
            let piece = socket.readSome(min(size, 65_536))
            guard !piece.isEmpty else { return nil }
            body += piece
            size -= piece.count
        }
        return Request(method: words[0], target: words[1], headers: headers, body: body, connection: connection)
    }

    /// - Returns: Whether the connection stays.
    private static func send(_ answer: Answer, over socket: RawSocket) -> Bool {
        guard (try? socket.write(answer.bytes)) != nil else { return false }
        switch answer.end {
        case .stays: return true
        case .closes: break
        case .hangs: _ = socket.readToEnd()
        case .endless(let bytes): while (try? socket.write(bytes)) != nil {}
        case .tunnel(let port, let bytes):
            guard let other = try? RawSocket.connected(to: port), (try? other.write(bytes)) != nil else { return false }
            Thread.detachNewThread { relay(other, socket) }
            relay(socket, other)
        }
        return false
    }

    private static func relay(_ from: RawSocket, _ to: RawSocket) {
        while true {
            let piece = from.readSome()
            guard !piece.isEmpty, (try? to.write(piece)) != nil else { return to.endWriting() }
        }
    }
}
