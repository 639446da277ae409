import DeviceTrust
import EssentialFoundation
import ShipLinks
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport

@testable import ShipStore

/// Where publications lie, in memory: with all that a storage, and what is on the way to it, may do wrong.
final class StorageInMemory: PublicationStorage {
    /// What goes wrong; one call in so many does, `nil` for none.
    struct Faults {
        var failing: Int?
        /// Reads show nothing, what was there before, something else, or a part.
        var lying: Int?
        /// Whether who publishes may not list.
        var forbidsListing = false
        /// Whether what is there in part can be neither listed nor given up.
        var keepsUploads = false
    }

    private struct State {
        var random: RepeatableRandom
        var faults = Faults()
        var heads: [[UInt8]] = []
        var objects: [ContentDigest: [UInt8]] = [:]
        var time = Int64(0)
        var written: [ContentDigest: Int64] = [:]
        var removed: [ContentDigest] = []
        var requests = 0
        var bytesUp = 0
        var bytesDown = 0
    }

    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: RepeatableRandom(seed: seed))) }

    // MARK: What tests see

    func set(_ faults: Faults) { state.withLock { $0.faults = faults } }
    var head: [UInt8]? { state.withLock { $0.heads.last } }
    func object(_ digest: ContentDigest) -> [UInt8]? { state.withLock { $0.objects[digest] } }
    var all: [ContentDigest: [UInt8]] { state.withLock(\.objects) }
    var digests: Set<ContentDigest> { state.withLock { Set($0.objects.keys) } }
    /// In their order.
    var removed: [ContentDigest] { state.withLock(\.removed) }
    /// The time of the last call, in seconds since 1970: when what it wrote was written.
    var time: Int64 { state.withLock { $0.time } }
    var traffic: (requests: Int, up: Int, down: Int) { state.withLock { ($0.requests, $0.bytesUp, $0.bytesDown) } }

    /// The oldest head is there again.
    func goBack(by count: Int) { state.withLock { $0.heads = Array($0.heads.dropLast(count)) } }
    func put(head: [UInt8]) { state.withLock { $0.heads.append(head) } }
    /// The certificate of a device whose heads are put here.
    func certify(_ device: DeviceIdentity) {
        change { $0[ContentDigest(sha256: device.id.bytes)] = device.certificate }
    }
    func change(_ body: (inout [ContentDigest: [UInt8]]) -> Void) { state.withLock { body(&$0.objects) } }

    /// Whether a call of this kind goes wrong now.
    private func isDue(_ kind: (Faults) -> Int?) -> Bool {
        state.withLock { state in
            guard let share = kind(state.faults) else { return false }
            return Int.random(in: 0..<share, using: &state.random) == 0
        }
    }

    private func number(_ range: Range<Int>) -> Int {
        state.withLock { Int.random(in: range, using: &$0.random) }
    }

    /// A call that may fail before it does something, or after.
    private func call<Result>(_ body: (inout State) -> Result) throws -> Result {
        state.withLock { $0.requests += 1 }
        let (before, after) = (isDue(\.failing), isDue(\.failing))
        if before { throw LinkError.closedByPeer }
        let result = state.withLock { state in
            state.time += 1
            return body(&state)
        }
        if after { throw LinkError.closedByPeer }
        return result
    }

    // MARK: Reading

    private static func tag(of head: [UInt8]) -> String { ContentDigest(hashing: head).hex }

    func head(unlike tag: String?, fresh isFresh: Bool) async throws -> FetchedHead {
        let heads = try call { $0.heads }
        guard var head = heads.last else { return .none }
        if !isFresh, isDue(\.lying) {
            switch number(0..<4) {
            case 0: head = heads[number(0..<heads.count)]
            case 1: return .none
            case 2: head = Array(head.prefix(number(0..<head.count)))
            default: head[number(0..<head.count)] ^= 1
            }
        }
        let found = Self.tag(of: head)
        if found == tag { return .unchanged }
        state.withLock { $0.bytesDown += head.count }
        return .head(head, tag: found)
    }

    func object(
        _ digest: ContentDigest, from offset: Int64, upTo limit: Int64, _ take: (Int64, [UInt8]) throws -> Void
    ) async throws {
        guard var bytes = try call({ $0.objects[digest] }) else {
            throw PublicationError.objectGone(.folder("somewhere"), digest)
        }
        var offset = Int(offset)
        if isDue(\.lying) {
            switch number(0..<6) {
            case 0: throw PublicationError.objectGone(.folder("somewhere"), digest)
            case 1: bytes = Array(bytes.prefix(number(0..<bytes.count)))
            case 2: bytes[number(0..<bytes.count)] ^= 1
            case 3: bytes += [0, 0, 0]
            case 4: bytes = state.withLock { $0.objects.randomElement(using: &$0.random)?.value } ?? []
            default: offset = 0
            }
        }
        offset = min(offset, bytes.count)
        while offset < min(bytes.count, Int(limit)) {
            if isDue(\.failing) { throw LinkError.closedByPeer }
            let piece = Array(bytes[offset..<min(offset + 1000, bytes.count, Int(limit))])
            state.withLock { $0.bytesDown += piece.count }
            try take(Int64(offset), piece)
            offset += piece.count
        }
    }

    // MARK: Writing

    func put(_ object: PublishedObject, from file: FilePath, as name: ContentDigest) async throws {
        let bytes = try OpenFile.reading(file).read(Int(object.size), at: 0)
        try call { state in
            state.objects[name] = bytes
            state.written[name] = state.time
            state.bytesUp += bytes.count
        }
    }

    func replaceHead(tagged tag: String?, with head: [UInt8]) async throws -> String? {
        try call { state in
            guard state.heads.last.map(Self.tag) == tag else { return nil }
            state.heads.append(head)
            state.bytesUp += head.count
            return Self.tag(of: head)
        }
    }

    func objects() async throws -> [(name: ContentDigest, written: Timestamp)] {
        if state.withLock({ $0.faults.forbidsListing }) {
            throw PublicationError.storage(.folder("somewhere"), 403, "AccessDenied")
        }
        return try call { state in
            state.objects.keys.map { digest in
                (digest, Timestamp(Date(timeIntervalSince1970: TimeInterval(state.written[digest] ?? 0))))
            }
        }
    }

    func remove(_ name: ContentDigest, writtenBefore time: Timestamp) async throws -> Bool {
        try call { state in
            state.removed.append(name)
            return state.objects.removeValue(forKey: name) != nil
        }
    }

    func abandonUploads(begunBefore time: Timestamp) async throws {
        if state.withLock({ $0.faults.keepsUploads }) { throw LinkError.closedByPeer }
    }
}
