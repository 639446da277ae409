import Synchronization

/// A link over an asynchronous sequence of bytes, and a closure that takes bytes: for what delivers each byte once and in order,
/// such as a connection of Network.framework's, a stream of MultipeerConnectivity's, or an L2CAP channel.
///
/// The sequence is asked for its next element only while less than `readAhead` bytes wait to be read. It ends when this link goes.
public final class StreamLink: Link {
    /// So many bytes wait for their reader at most, and the rest of the last element.
    public static let readAhead = 128 * 1024

    /// Bytes that are handed to `writing` at a time: a link that takes as many within its limit of time is at work.
    public static let mostWritten = 4096

    private let incoming = IncomingPieces()
    private let pump: Task<Void, Never>
    private let write: @Sendable ([UInt8]) async throws -> Void
    private let end: @Sendable () async throws -> Void
    private let mostWritten: Int

    /// - Parameters:
    ///   - incoming: What the other side sends, in elements of any length; its end is the end of the other side.
    ///   - write: Takes bytes, at most `mostWritten`, and returns when there is room for more. It may be cancelled.
    ///   - finish: Says that nothing more comes.
    public convenience init<Incoming: AsyncSequence & Sendable>(
        reading incoming: Incoming, writing write: @escaping @Sendable ([UInt8]) async throws -> Void,
        finish: @escaping @Sendable () async throws -> Void
    ) where Incoming.Element: Collection<UInt8> {
        self.init(reading: incoming, writing: write, atMost: Self.mostWritten, finish: finish)
    }

    /// - Parameter mostWritten: Bytes that `write` is given at a time.
    init<Incoming: AsyncSequence & Sendable>(
        reading incoming: Incoming, writing write: @escaping @Sendable ([UInt8]) async throws -> Void,
        atMost mostWritten: Int, finish: @escaping @Sendable () async throws -> Void
    ) where Incoming.Element: Collection<UInt8> {
        self.mostWritten = mostWritten
        self.write = write
        end = finish
        pump = Task { [pieces = self.incoming] in
            do {
                for try await piece in incoming where !piece.isEmpty { try await pieces.add(Array(piece)) }
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
            try await write(piece: Array(bytes[start...].prefix(mostWritten)), within: limit)
        }
    }

    private func write(piece bytes: [UInt8], within limit: Duration) async throws {
        let task = Task { [write] in try await write(bytes) }
        defer { task.cancel() }
        try await AwaitedAnswer<Void>.wait(within: limit, or: .timedOut(.writing)) { answer in
            Task { answer.give(await task.result.mapError(LinkError.init(ofCarrier:))) }
        }
    }

    public func finish() async throws { try await end() }
}

/// What has come in and waits for its reader.
private final class IncomingPieces: Sendable {
    private struct State {
        var pieces: [[UInt8]] = []
        var bytes = 0
        var end: Result<Void, LinkError>?
        /// Who waits for a piece, and who for there to be room for one.
        var reader: AwaitedAnswer<[UInt8]?>?
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
            // What comes too late for one call, after a timeout or a cancellation, is kept for the next.
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
