import Foundation
import ShipProtocol
import SystemPackage
import TestSupport

/// Sessions of one trusted device that say for ever that they are at work: a program that is none of ours holds them.
final class SlowSessions: Sendable {
    private let program: ChildProgram

    /// - Parameters:
    ///   - count: Of connections.
    ///   - identity: The device's certificate and key.
    ///   - port: Of a listener on this machine.
    init(_ count: Int, as identity: FilePath, to port: UInt16) throws {
        let (preamble, working) = (Preamble(role: .producer, mode: .twoWay).encoded, try Frame.working.serialized())
        program = try ChildProgram(
            "/usr/bin/env",
            [
                "python3", "-c",
                """
                import socket, ssl, sys, threading, time
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
                context.load_cert_chain('\(identity)')
                sessions = []
                def hold():
                    try:
                        link = context.wrap_socket(socket.create_connection(('127.0.0.1', \(port))))
                        link.sendall(bytes(\(preamble.map(Int.init))))
                        sessions.append(link)
                        while True:
                            link.sendall(bytes(\(working.map(Int.init))))
                            time.sleep(1)
                    except OSError as error:
                        print('ended', error, flush=True)
                for _ in range(\(count)):
                    threading.Thread(target=hold, daemon=True).start()
                    time.sleep(0.01)
                time.sleep(1)
                print('begun', len(sessions), file=sys.stderr, flush=True)
                time.sleep(3600)
                """,
            ])
    }

    /// Returns when as many are there as get a place, and the others wait for one.
    func begin() async throws { _ = try await program.waitForLine(containing: "begun ") }

    /// Whether none has been closed.
    var isOpen: Bool { program.text(.output).isEmpty }
}
