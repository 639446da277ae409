import DeviceTrust
import EssentialFoundation
import ShipLinks
import ShipProtocol
import TestSupport
import Testing

@testable import ShipStore

/// Storage that means harm, kind by kind (`Protocol/PUBLISHED.md` section 6): nothing of it is installed, the words say what was not as it was
/// promised, and what is right is taken once it is there again.
@Suite struct HostileStorageTests {
    /// What a storage does, and what its followers say.
    struct Harm: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let words: String
        let change: @Sendable (PublicationRound) async throws -> Void

        init(_ name: String, _ words: String, _ change: @escaping @Sendable (PublicationRound) async throws -> Void) {
            (testDescription, self.words, self.change) = (name, words, change)
        }

        /// Puts another head there.
        static func head(
            _ name: String, _ words: String, _ change: @escaping @Sendable (inout [UInt8]) -> Void
        ) -> Harm {
            Harm(name, words) { round in
                var head = try #require(round.storage.head)
                change(&head)
                round.storage.put(head: head)
            }
        }

        /// Puts something else in the place of each object.
        static func objects(
            _ name: String, _ words: String, _ change: @escaping @Sendable (_ before: [UInt8], [UInt8]) -> [UInt8]?
        ) -> Harm {
            Harm(name, words) { round in
                round.storage.change { objects in
                    let before = objects.sorted { $0.key.hex < $1.key.hex }
                    for (index, (name, bytes)) in before.enumerated() {
                        objects[name] = change(before[(index + 1) % before.count].value, bytes)
                    }
                }
            }
        }
    }

    private static let noObject = "is damaged, or is not the one that was published"

    static let harms: [Harm] = [
        .objects("exchanges objects", noObject) { other, _ in other },
        .objects("lengthens objects", noObject) { _, bytes in bytes + [0] },
        .objects("sends objects without end", noObject) { _, bytes in bytes + [UInt8](repeating: 7, count: 3_000_000) },
        .objects("cuts objects", noObject) { _, bytes in Array(bytes.dropLast()) },
        .objects("damages objects", noObject) { _, bytes in Array(bytes.dropLast()) + [~(bytes.last ?? 0)] },
        .objects("loses objects", "is missing at") { _, _ in nil },
        .head("sends a head without end", "is damaged") { $0 += [UInt8](repeating: 7, count: 3_000_000) },
        .head("cuts the head", "is damaged") { $0.removeLast() },
        .head("shows something else", "is damaged") { $0 = Array("<html>".utf8) },
        .head("changes the signature", "the signature is not that of") { $0[50] ^= 1 },
        .head("names a publisher that is none", "is missing at") { $0[20] ^= 1 },
        Harm("shows no head", "nothing is published at") { $0.storage.goBack(by: 100) },
        Harm("shows an older head", "is older than it was") { $0.storage.goBack(by: 2) },
        Harm("shows another publication of the device", "another publication is at") { round in
            let other = StorageInMemory(seed: 2)
            _ = try await round.publisher(to: other, at: .folder("elsewhere")).publish()
            round.storage.put(head: try #require(other.head))
            round.storage.change { $0.merge(other.all) { first, _ in first } }
        },
        Harm("shows another device's publication", "another device publishes at") { round in
            let other = StorageInMemory(seed: 3)
            _ = try await round.publisher(to: other, at: round.place, of: 1).publish()
            round.storage.put(head: try #require(other.head))
            round.storage.change { $0.merge(other.all) { first, _ in first } }
        },
    ]

    /// A publication that its first follower has read, with more since. Nobody else has read it.
    private static func round(_ seed: UInt64) async throws -> PublicationRound {
        let round = try PublicationRound(seed: seed)
        try await round.publish()
        try await round.look(0)
        for _ in 0..<12 {
            try round.change(rows: 5)
            try await round.publish()
        }
        return round
    }

    @Test(arguments: harms)
    func `nothing is installed, and the words say why`(harm: Harm) async throws {
        let round = try await Self.round(90)
        try await round.look(1)
        try round.change(rows: 400)
        try await round.publish()
        let (head, objects) = (round.storage.head, round.storage.all)
        try await harm.change(round)
        var isNoticed = false
        // One that has seen the head before; one that is long behind; one that begins.
        for (index, held) in [(1, 12), (0, 0), (2, -1)] {
            do {
                try await round.look(index)
                // It needed nothing of that, or has never seen what is newer.
                let found = try round.tick(of: index)
                #expect(found == round.ticks || index != 1 && found >= held && found <= round.ticks)
            } catch {
                isNoticed = true
                let words = ShipmentError(error).cause.text
                #expect(words.contains(harm.words), "\(words)")
                #expect(try round.tick(of: index) >= held)
            }
            #expect(round.parts(index).isEmpty)
        }
        #expect(isNoticed)
        round.storage.change { $0 = objects }
        round.storage.put(head: try #require(head))
        for index in [0, 1] {
            try await round.look(index)
            #expect(try round.tick(of: index) == round.ticks)
        }
    }

    @Test func `no head that breaks a rule is taken`() async throws {
        let round = try PublicationRound(seed: 91)
        try await round.publish()
        try await round.look(0)
        for vector in try ProtocolVector.all(.head) where vector.error != nil {
            round.storage.put(head: vector.bytes)
            let certificate = try #require(vector.bytes(labelled: "certificate"))
            if let id = ContentDigest(bytes: vector.bytes.dropFirst(9).prefix(ContentDigest.size)) {
                round.storage.change { $0[id] = certificate }
            }
            let error = await #expect(throws: PublicationError.self) { try await round.look(0) }
            switch error {
            case .badHead, .badSignature: break
            case .badObject where vector.error == "damaged": break
            default: Issue.record("\(vector.name): \(String(describing: error))")
            }
        }
        #expect(try round.tick(of: 0) == 0)
    }

    /// Also where the publisher has signed it.
    @Test func `no catalog that breaks a rule is taken`() async throws {
        let round = try PublicationRound(seed: 92)
        try await round.publish()
        let store = try #require(try round.newestHead().head.stores.first)
        for vector in try ProtocolVector.all(.catalog) where vector.error != nil {
            let bytes = vector.bytes
            // A head that names a longer one breaks a rule itself.
            guard bytes.count <= Limits.catalogSize else { continue }
            let object = PublishedObject(sha256: ContentDigest(hashing: bytes), size: Int64(max(1, bytes.count)))
            round.storage.change { $0[object.sha256] = bytes }
            let forged = PublishedHead.Store(
                name: store.name, newest: store.newest, counter: store.counter, asOf: store.asOf, size: store.size,
                catalog: object, steps: [])
            round.storage.put(head: try round.head(with: [forged]))
            await #expect(throws: ShipmentError.publication(.badObject(round.place, object.sha256))) {
                try await round.look(0)
            }
        }
        #expect(try round.tick(of: 0) == -1)
    }
}
