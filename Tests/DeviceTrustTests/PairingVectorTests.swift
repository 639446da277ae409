import Crypto
import Foundation
import TestSupport
import Testing

@testable import DeviceTrust

/// What an independent program makes of `Protocol/TRUST.md` and `Protocol/PAIRING.md`.
@Suite struct `The vectors of ids and pairings` {
    struct Vectors: Decodable {
        struct ID: Decodable {
            let sha256: String
            let text: String
        }

        struct Pairing: Decodable {
            let code, initiatorIs, initiator, responder, sid, ya, yb, name, start, answer, proof, welcome: String
        }

        let ids: [ID]
        let pairings: [Pairing]
    }

    private let vectors: Vectors

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Protocol/Pairing/vectors.json")
        vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file))
    }

    @Test func `ids are written and read as there`() throws {
        #expect(vectors.ids.count == 8)
        for vector in vectors.ids {
            let id = try #require(DeviceIdentifier(bytes: hex(vector.sha256)))
            #expect(id.text == vector.text)
            #expect(try DeviceIdentifier(vector.text) == id)
        }
    }

    @Test func `both sides of a pairing say what is there, byte by byte`() throws {
        #expect(vectors.pairings.count == 16)
        for vector in vectors.pairings {
            let code = try #require(PairingCode(vector.code))
            let initiator = try #require(DeviceIdentifier(bytes: hex(vector.initiator)))
            let responder = try #require(DeviceIdentifier(bytes: hex(vector.responder)))
            let name = try #require(PeerName(vector.name))
            let role = try #require(TrustedPeer.Role(rawValue: vector.initiatorIs))
            let first = try PairingInitiator(
                code, own: initiator, other: responder, trustedAs: role.other, sid: hex(vector.sid),
                scalar: .init(rawRepresentation: hex(vector.ya)))
            #expect(first.start == hex(vector.start))
            let second = try PairingResponder(
                code, first.start, own: responder, other: initiator, trustedAs: role,
                scalar: .init(rawRepresentation: hex(vector.yb)))
            #expect(second.answer == hex(vector.answer))
            let proof = try first.proof(for: second.answer, own: name)
            #expect(proof == hex(vector.proof))
            let welcome = try second.welcome(for: Array(proof.prefix(PairingExchange.proofSize)), own: name)
            #expect(welcome == hex(vector.welcome))
        }
    }
}
