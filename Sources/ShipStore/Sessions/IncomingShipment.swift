import ShipCompression
import ShipProtocol
import StoreInbox
import StoreInstall
import StoreServing

/// A shipment that is being received: its staging, its decoder, and the right to its store. When it is dropped before it
/// is installed, the staging goes.
final class IncomingShipment {
    /// Bytes of all parts that come, decoded.
    let bytesTotal: Int64
    private(set) var bytesDone: Int64 = 0
    /// The current generation, if it is this very shipment.
    let same: Generation?

    private var staged: StagedGeneration?
    private var decoder = BlockDecoder()
    private let turn: StoreTurns.Turn

    init(_ staged: consuming StagedGeneration, _ turn: StoreTurns.Turn, same: Generation? = nil) {
        bytesTotal = staged.bytesToCome
        self.staged = consume staged
        self.turn = turn
        self.same = same
    }

    /// - Parameter block: The next one in order.
    func append(_ block: Block) throws {
        let decoded = try decoder.decode(block)
        try staged?.append(decoded, toPart: Int(block.part))
        bytesDone += Int64(decoded.count)
    }

    /// Everything has come: nothing is trusted until it has been read back, and checked as a store.
    func seal() throws {
        try staged?.seal()
        if let path = staged?.storePath, let facts = staged?.manifest.store {
            try StoreCheck().run(on: path, against: facts)
        }
    }

    /// - Throws: `FailedProbe`.
    func ask(_ probes: ProbeRun) throws {
        if let path = staged?.storePath, let size = staged?.manifest.store.size { try probes.run(on: path, size: size) }
    }

    func install(
        with installer: Installer, open: (Generation) async throws -> Void
    ) async throws -> Generation {
        guard let staged = staged.take() else { throw ProtocolError.incomplete }
        return try await installer.install(staged, open: open)
    }
}
