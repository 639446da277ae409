import Foundation
import SystemPackage
import TestSupport
import Testing

/// A link that breaks: it carries what goes through it, at a rate, and ends each connection after a number of bytes from the sender.
final class CuttingRelay: Sendable {
    let address: String
    private let program: ChildProgram

    /// - Parameters:
    ///   - receiver: Where connections go on to: a receiver, or a sender that listens.
    ///   - cuts: After how many bytes each connection is cut, one after the other; those that come then are not.
    ///   - rate: Bytes a second from the sender.
    ///   - listens: Whether it is the sender that listens.
    init(
        to receiver: Receiver, cuts: [Int] = [], rate: Int = 100_000_000, senderListens listens: Bool = false
    ) async throws {
        program = try ChildProgram(
            "/usr/bin/env",
            [
                "python3", "-c",
                """
                import contextlib, socket, sys, threading, time
                cuts = [\(cuts.map(String.init).joined(separator: ","))]
                listener = socket.create_server(("127.0.0.1", 0))
                print("port", listener.getsockname()[1], flush=True)
                def end(*ends):
                    for each in ends:
                        with contextlib.suppress(OSError):
                            each.shutdown(socket.SHUT_RDWR)
                def back(near, far):
                    with contextlib.suppress(OSError):
                        while data := far.recv(65536):
                            near.sendall(data)
                        near.shutdown(socket.SHUT_WR)
                def forth(near, far, left):
                    count = 0
                    with contextlib.suppress(OSError):
                        near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 15)
                        while data := near.recv(4096 if left is None else min(left - count, 4096)):
                            time.sleep(len(data) / \(rate))
                            far.sendall(data)
                            count += len(data)
                            if count == left:
                                end(near, far)
                                break
                        else:
                            far.shutdown(socket.SHUT_WR)
                    print("carried", count, flush=True)
                carrying = []
                def serve():
                    while True:
                        near, _ = listener.accept()
                        left = cuts.pop(0) if cuts else None
                        try:
                            far = socket.create_connection(("127.0.0.1", \(receiver.port)))
                        except OSError:
                            near.close()
                            continue
                        ends = \(listens ? "(far, near)" : "(near, far)")
                        threading.Thread(target=back, args=ends, daemon=True).start()
                        carrying.append(threading.Thread(target=forth, args=(*ends, left), daemon=True))
                        carrying[-1].start()
                threading.Thread(target=serve, daemon=True).start()
                sys.stdin.read()
                # What has ended has said so a moment later.
                for each in carrying:
                    each.join(2)
                """,
            ], input: .pipe)
        let line = try await program.waitForLine(containing: "port ", on: .output)
        address = "127.0.0.1:\(line.split(separator: " ").last ?? "")"
    }

    /// Ends it.
    ///
    /// - Returns: How many bytes each connection has carried from the sender.
    func end() async throws -> [Int] {
        program.closeInput()
        let outcome = try await program.wait()
        return outcome.lines.filter { $0.hasPrefix("carried ") }.compactMap { Int($0.dropFirst(8)) }
    }
}
