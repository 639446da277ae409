import ShipProtocol
import StoreEncoding
import Synchronization

/// The deltas of one state of a store that were encoded for one receiver: the next one that holds the same base is sent the same bytes.
///
/// A receiver waits while a delta that it needs is being encoded for another one, and never for that one's link.
final class EncodedDeltas: Sendable {
    /// Longer ones are encoded for each receiver, in bytes: their encoder goes no faster than the receiver's link.
    private static let longest = 1 << 20
    /// Most bytes of all that are kept.
    private static let mostBytes = 8 << 20

    private struct State {
        var made: [ContentDigest: [EncodedSegment]] = [:]
        var size = 0
    }

    private let state = Mutex(State())
    private let turns = Turns<ContentDigest>()

    /// Delivers a delta that was encoded before, or encodes it.
    ///
    /// - Parameters:
    ///   - base: The SHA-256 of what it refers to.
    ///   - encode: Encodes it; what its argument throws ends the encoding.
    /// - Throws: `EncodingFailure.tooLarge` for one that exceeds the limit, `CancellationError`; what `encode` and `deliver` throw.
    func deliver(
        over base: ContentDigest, limit: Int64, to deliver: (EncodedSegment) async throws -> Void,
        encoding encode: @escaping ((EncodedSegment) async throws -> Void) async throws -> Void
    ) async throws {
        var turn: Turns<ContentDigest>.Turn? = try await turns.take(base)
        if let made = state.withLock({ $0.made[base] }) {
            turn = nil
            guard made.reduce(0, { $0 + Int64($1.bytes.count) }) <= limit else { throw EncodingFailure.tooLarge }
            for segment in made { try await deliver(segment) }
            return
        }
        var (waiting, size) = ([EncodedSegment](), 0)
        try await encode { segment in
            guard turn != nil else { return try await deliver(segment) }
            waiting.append(segment)
            size += segment.bytes.count
            guard size > Self.longest else { return }
            // Others need not wait for this receiver's link.
            turn = nil
            for segment in waiting { try await deliver(segment) }
            waiting = []
        }
        guard turn != nil else { return }
        keep(waiting, size, over: base)
        turn = nil
        for segment in waiting { try await deliver(segment) }
    }

    private func keep(_ segments: [EncodedSegment], _ size: Int, over base: ContentDigest) {
        state.withLock { state in
            guard state.size + size <= Self.mostBytes else { return }
            state.made[base] = segments
            state.size += size
        }
    }
}
