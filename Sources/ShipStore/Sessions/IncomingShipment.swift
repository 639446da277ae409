import ShipCompression
import ShipProtocol
import StoreInbox
import StoreInstall
import StoreServing
import SystemPackage

/// A shipment that is being received: its staging, its decoders, and the right to its store. When it is dropped before it
/// is installed, the staging goes.
final class IncomingShipment {
    /// Bytes of all parts that come, decoded.
    let bytesTotal: Int64
    /// The current generation, if it is this very shipment.
    let same: Generation?

    let manifest: Manifest
    let sender: Sender

    /// So little to come, in bytes, that a process which waits for it does not wait long, even on a slow link.
    private static let little: Int64 = 4 * 1024 * 1024

    private var staged: StagedGeneration?
    private var decoder = BlockDecoder()
    private let store: IncomingStore
    private var (storeBytes, otherBytes) = (Int64(0), Int64(0))
    private let turn: StoreTurns.Turn
    /// What waits to check the store, where that is a process of its own.
    private var checker: CheckerChild?

    init(
        _ staged: consuming StagedGeneration, from sender: Sender, _ turn: StoreTurns.Turn, _ codec: ColumnsCodec?,
        same: Generation? = nil
    ) {
        bytesTotal = staged.bytesToCome
        manifest = staged.manifest
        self.sender = sender
        self.staged = consume staged
        store = IncomingStore(codec)
        self.turn = turn
        self.same = same
    }

    var bytesDone: Int64 { min(bytesTotal, storeBytes + store.bytesMade + otherBytes) }

    /// - Parameters:
    ///   - block: The next one in order.
    ///   - mode: Where nobody can be asked, rows that do not decode are refused as soon as they cannot be taken back.
    func append(_ block: Block, _ mode: Preamble.Mode?) throws {
        if block.part > 0, mode == .oneWay { try store.settle() }
        let decoded = try decoder.decode(block)
        try staged?.append(decoded, toPart: Int(block.part))
        if block.part == 0 { storeBytes += Int64(decoded.count) } else { otherBytes += Int64(decoded.count) }
    }

    /// - Parameter rows: The next piece of the store's rows.
    func append(_ rows: Columns) throws {
        try store.append(rows, to: &staged)
    }

    /// What has come of the store is void.
    func startStoreAgain() throws {
        try store.startAgain(in: &staged)
        storeBytes = 0
    }

    /// The store is complete: whether it is what the manifest says.
    ///
    /// - Throws: `CompressionError` or `.mismatch` if it is not, after which it may come again; other errors are final.
    func sealStore() throws {
        try store.settle()
        try staged?.sealStore()
    }

    /// Everything has come: nothing is trusted until it has been read back.
    func seal() throws { try staged?.seal() }

    /// Once little is still to come: starts what checks the store in the end, which then has not to be waited for.
    func prepareCheck(_ options: CheckOptions) {
        guard checker == nil, bytesTotal - bytesDone <= Self.little, let path = staged?.storePathByDescriptor else {
            return
        }
        checker = options.startChild(in: path.removingLastComponent())
    }

    /// Ends what waits to check the store, where nothing more comes.
    func endCheck() async { await checker?.end() }

    /// What has been read back is checked as a store.
    ///
    /// - Throws: `StoreCheck.Flaw`.
    func check(_ options: CheckOptions) async throws -> CheckReport {
        guard let path = staged?.storePathByDescriptor, let manifest = staged?.manifest else {
            throw ProtocolError.incomplete
        }
        return try await options.check(path, against: StoreClaims(manifest), in: checker)
    }

    /// - Throws: `FailedProbe`, `CancellationError`.
    func ask(_ probes: ProbeRun) throws {
        guard let path = staged?.storePathByDescriptor, let size = staged?.manifest.store.size else { return }
        do throws(FailedProbe) {
            try probes.run(on: path, size: size)
        } catch {
            // A probe that was left in the middle has not failed.
            try Task.checkCancellation()
            throw error
        }
    }

    func install(
        with installer: Installer, permitting: () throws -> Void, open: (Generation) async throws -> Void
    ) async throws -> Generation {
        guard let staged = staged.take() else { throw ProtocolError.incomplete }
        return try await installer.install(staged, permitting: permitting, open: open)
    }
}
