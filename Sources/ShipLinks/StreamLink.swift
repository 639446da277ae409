import Synchronization

/// A link over an asynchronous sequence of bytes, and a closure that takes bytes. The carrier must deliver each byte once and in
/// order, as a connection of Network.framework's, a stream of MultipeerConnectivity's, or an L2CAP channel does.
///
/// The link asks the sequence for its next element only while less than `readAhead` bytes wait to be read, and cancels it when the
/// link is released.
public final class StreamLink: Link {
    /// Most bytes that wait for their reader, apart from the rest of the last element.
    public static let readAhead = 128 * 1024

    /// Most bytes that one call of `writing` gets. A link must take that many within its limit of time.
    public static let mostWritten = 4096

    private let incoming = IncomingPieces()
    private let pump: Task<Void, Never>
    private let write: @Sendable ([UInt8]) async throws -> Void
    private let end: @Sendable () async throws -> Void
    private let mostWritten: Int

    /// - Parameters:
    ///   - incoming: The bytes of the other side, in elements of any length. It ends when the other side has finished.
    ///   - write: Takes at most `mostWritten` bytes, and returns when there is room for more. It may be cancelled.
    ///   - finish: Tells the other side that nothing more comes.
    public convenience init<Incoming: AsyncSequence & Sendable>(
        reading incoming: Incoming, writing write: @escaping @Sendable ([UInt8]) async throws -> Void,
        finish: @escaping @Sendable () async throws -> Void
    ) where Incoming.Element: Collection<UInt8> {
        self.init(
            reading: { add in for try await piece in incoming where !piece.isEmpty { try await add(Array(piece)) } },
            writing: write, atMost: Self.mostWritten, finish: finish)
    }

    /// - Parameters:
    ///   - read: Passes each piece of the other side's bytes on, and returns when the other side has finished.
    ///   - mostWritten: Most bytes that one call of `write` gets.
    init(
        reading read: @escaping @Sendable (_ add: ([UInt8]) async throws -> Void) async throws -> Void,
        writing write: @escaping @Sendable ([UInt8]) async throws -> Void,
        atMost mostWritten: Int, finish: @escaping @Sendable () async throws -> Void
    ) {
        self.mostWritten = mostWritten
        self.write = write
        end = finish
        pump = Task { [pieces = self.incoming] in
            do {
                try await read { try await pieces.add($0) }
                pieces.end(.success(()))
            } catch {
                pieces.end(.failure(LinkError(ofCarrier: error)))
            }
        }
    }

    deinit { pump.cancel() }

    public func read(within limit: Duration) async throws -> [UInt8]? { try await incoming.next(within: limit) }

    public func write(_ bytes: [UInt8], within limit: Duration) async throws {
        for start in stride(from: 0, to: bytes.count, by: mostWritten) {
            let piece = Array(bytes[start...].prefix(mostWritten))
            try await AwaitedAnswer.ofCarrier(within: limit) { [write] in try await write(piece) }
        }
    }

    public func finish() async throws { try await end() }
}

/// The bytes that have come in and wait for their reader. The pump holds this and not the link, so that the link can be released.
private final class IncomingPieces: Sendable {
    private struct State {
        var pieces: [[UInt8]] = []
        var bytes = 0
        var end: Result<Void, LinkError>?
        /// Waits for a piece.
        var reader: AwaitedAnswer<[UInt8]?>?
        /// Waits for room.
        var writer: AwaitedAnswer<Void>?
    }

    private let state = Mutex(State())

    /// Returns when there is room for more.
    func add(_ piece: [UInt8]) async throws(LinkError) {
        state.withLock { state in
            state.pieces.append(piece)
            state.bytes += piece.count
            Self.serve(&state)
        }
        try await AwaitedAnswer<Void>.wait { answer in
            state.withLock { state in
                if state.bytes < StreamLink.readAhead {
                    answer.give(.success(()))
                } else {
                    state.writer = answer
                }
            }
        }
    }

    func end(_ end: Result<Void, LinkError>) {
        state.withLock { state in
            state.end = end
            Self.serve(&state)
        }
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        try await AwaitedAnswer<[UInt8]?>.wait(within: limit, or: .timedOut(.reading)) { answer in
            state.withLock { state in
                state.reader = answer
                Self.serve(&state)
            }
        }
    }

    private static func serve(_ state: inout State) {
        guard let reader = state.reader else { return }
        if let piece = state.pieces.first {
            state.reader = nil
            // After a timeout or a cancellation the piece stays for the next call.
            guard reader.give(.success(piece)) else { return }
            state.pieces.removeFirst()
            state.bytes -= piece.count
            if state.bytes < StreamLink.readAhead {
                state.writer?.give(.success(()))
                state.writer = nil
            }
        } else if let end = state.end {
            state.reader = nil
            reader.give(end.map { nil })
        }
    }
}
