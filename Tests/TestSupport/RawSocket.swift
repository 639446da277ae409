import ShipProtocol

#if canImport(Glibc)
    import Glibc
    private let stream = Int32(SOCK_STREAM.rawValue)
    private let withoutSignal = Int32(MSG_NOSIGNAL)
#elseif canImport(Musl)
    import Musl
    private let stream = SOCK_STREAM
    private let withoutSignal = MSG_NOSIGNAL
#elseif canImport(Darwin)
    import Darwin
    private let stream = SOCK_STREAM
    private let withoutSignal: Int32 = 0
#endif

/// A socket on loopback that does what no side of ours does: falls silent, or goes. Closed with its owner.
package final class RawSocket: Sendable {
    package struct Failed: Error { package let errno: Int32 }

    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Connects to a listener of this machine.
    ///
    /// - Parameter source: The last byte of the address that it comes from, 127.0.0.1 to 127.0.0.255.
    package static func connected(to port: UInt16, from source: UInt8 = 1) throws -> RawSocket {
        let socket = RawSocket(try check(socket(AF_INET, stream, 0)))
        if source != 1 {
            try withAddress(0, host: source) { address, size in _ = try check(bind(socket.descriptor, address, size)) }
        }
        try withAddress(port) { address, size in _ = try check(connect(socket.descriptor, address, size)) }
        return socket
    }

    /// Listens on a port of the system's choice.
    package static func listening() throws -> (socket: RawSocket, port: UInt16) {
        let socket = RawSocket(try check(socket(AF_INET, stream, 0)))
        // Little room, so that a sender soon waits.
        var room: Int32 = 32_768
        setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout.size(ofValue: room)))
        try withAddress(0) { address, size in _ = try check(bind(socket.descriptor, address, size)) }
        _ = try check(listen(socket.descriptor, 8))
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout.size(ofValue: address))
        _ = try withUnsafeMutablePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try check(getsockname(socket.descriptor, $0, &size))
            }
        }
        return (socket, UInt16(bigEndian: address.sin_port))
    }

    /// The next connection; waits for it, at most ten seconds.
    package func accepted() throws -> RawSocket {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Self.wait(&poll) else { throw Failed(errno: ETIMEDOUT) }
        return RawSocket(try Self.check(accept(descriptor, nil, nil)))
    }

    package func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, withoutSignal)
            }
            guard count > 0 else { throw Failed(errno: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Greets a sender, and takes what it offers: an answer to nothing would end the session.
    package func takeOffer() throws {
        try write(Words.greeting)
        var (parser, piece) = (FrameParser(), [UInt8](repeating: 0, count: 4096))
        while true {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard Self.wait(&poll) else { throw Failed(errno: ETIMEDOUT) }
            let count = try Self.check(Int32(clamping: recv(descriptor, &piece, piece.count, 0)))
            guard count > 0 else { throw Failed(errno: ECONNRESET) }
            parser.append(Array(piece[..<Int(count)]))
            while let element = try parser.next() {
                if case .frame(.manifest) = element { return try write(Words.acceptance) }
            }
        }
    }

    /// Sends all of this, says that it is all, and waits for the other side's last word.
    @discardableResult
    package static func exchange(_ bytes: [UInt8], with port: UInt16) async throws -> [UInt8] {
        let socket = try connected(to: port)
        try socket.write(bytes)
        socket.endWriting()
        return socket.readToEnd()
    }

    /// Nothing more comes from here.
    package func endWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Whether the other side has neither ended nor said anything.
    package var isQuiet: Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Self.poll(&poll, for: 0) == 0
    }

    /// What comes until there are these bytes in it.
    ///
    /// - Returns: `nil` if the other side ends, or is silent for ten seconds, before.
    package func read(until end: [UInt8]) -> [UInt8]? {
        var (bytes, byte) = ([UInt8](), [UInt8](repeating: 0, count: 1))
        while !bytes.reversed().starts(with: end.reversed()) {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard Self.wait(&poll), recv(descriptor, &byte, 1, 0) == 1 else { return nil }
            bytes += byte
        }
        return bytes
    }

    /// What comes next, at most so many bytes; nothing if the other side ends, or is silent for ten seconds.
    package func readSome(_ most: Int = 65_536) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: most)
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Self.wait(&poll) else { return [] }
        return Array(piece[..<max(0, recv(descriptor, &piece, piece.count, 0))])
    }

    /// What comes until the other side ends, or is silent for ten seconds.
    package func readToEnd() -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = readSome()
            if piece.isEmpty { return bytes }
            bytes += piece
        }
    }

    private static func wait(_ descriptor: inout pollfd) -> Bool { poll(&descriptor, for: 10_000) == 1 }

    private static func poll(_ descriptor: inout pollfd, for milliseconds: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.poll(&descriptor, 1, milliseconds)
        #elseif canImport(Musl)
            Musl.poll(&descriptor, 1, milliseconds)
        #elseif canImport(Darwin)
            Darwin.poll(&descriptor, 1, milliseconds)
        #endif
    }

    private static func check(_ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw Failed(errno: errno) }
        return result
    }

    private static func withAddress(
        _ port: UInt16, host: UInt8 = 1, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (0x7F00_0000 | UInt32(host)).bigEndian
        try withUnsafePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// The first words of a receiver, and its leave to send everything.
package enum Words {
    package static let greeting: [UInt8] =
        Preamble(role: .consumer, mode: .twoWay).encoded
        + ((try? Frame.hello(Hello(software: "test", taking: CommonEncodings([]), holds: [])).serialized()) ?? [])
    package static let acceptance: [UInt8] = (try? Frame.answer(.everything).serialized()) ?? []
}
