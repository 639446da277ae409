import ShipProtocol
import StoreInbox
import TestSupport
import Testing

@testable import StoreInstall

/// Another store comes under the name of one that is held.
@Suite struct OtherStoreTests {
    private let content: InboxContent
    private let name: StoreName

    init() throws {
        content = try InboxContent()
        name = try #require(StoreName("Recipes"))
    }

    private func installer(replacing names: Set<StoreName> = []) throws -> Installer {
        try Installer(
            inbox: Inbox(at: content.root), keeping: Retention(count: 5), replacing: names)
    }

    private func shipment(_ store: String, of identity: ForeignText) throws -> Shipment {
        let shipment = try Shipment(store)
        let manifest = shipment.manifest
        return Shipment(
            Manifest(
                name: manifest.name, createdAt: manifest.createdAt, producer: manifest.producer, store: manifest.store,
                identity: identity, coreData: manifest.coreData), shipment.parts)
    }

    @Test func `it is refused when it is offered`() async throws {
        let installer = try installer()
        try await shipment("1", of: "A").install(with: installer)
        let other = try shipment("2", of: "B")
        #expect(throws: InboxError.otherStore(name, .otherIdentity)) { try installer.plan(for: other.manifest) }
        try await shipment("3", of: "A").install(with: installer)
        #expect(content.text("Recipes.sqlite") == "3")
    }

    @Test func `it is refused at the switch, where the one that is held came meanwhile`() async throws {
        let installer = try installer()
        let other = try shipment("2", of: "B")
        guard case .stage = try installer.plan(for: other.manifest) else { throw Shipment.BadSample() }
        await #expect(throws: InboxError.otherStore(name, .otherIdentity)) {
            let staged = try other.stage(with: installer)
            let sealed = try staged.seal()
            try await shipment("1", of: "A").install(with: installer)
            _ = try await installer.install(sealed) { _ in }
        }
        #expect(content.text("Recipes.sqlite") == "1")
        #expect(content.numbers == [1])
        #expect(content.staging == [])
    }

    @Test func `the operator's word serves one shipment that arrives`() async throws {
        struct CannotOpen: Error {}
        try await shipment("0", of: "Z").install(with: try installer())
        let installer = try installer(replacing: [name])
        let other = try shipment("2", of: "B")
        await #expect(throws: CannotOpen.self) { try await other.install(with: installer) { _ in throw CannotOpen() } }
        try await other.install(with: installer)
        #expect(content.text("Recipes.sqlite") == "2")
        await #expect(throws: InboxError.otherStore(name, .otherIdentity)) {
            try await shipment("3", of: "C").install(with: installer)
        }
        #expect(content.numbers == [1, 2])
    }
}
