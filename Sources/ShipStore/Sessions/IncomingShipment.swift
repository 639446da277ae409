import ShipCompression
import ShipProtocol
import StoreInbox
import StoreInstall
import StoreServing
import SystemPackage

/// A shipment that is being received: its staging, its decoders, and the right to its store. When it is dropped before it
/// is installed, the staging goes.
///
///     IncomingShipment -> seal -> SealedShipment -> install -> Generation
final class IncomingShipment {
    /// Bytes of all parts that come, decoded.
    let bytesTotal: Int64
    /// The current generation, if it is this very shipment.
    let same: Generation?

    let manifest: Manifest
    let sender: Sender

    /// So little to come, in bytes, that a process which waits for it does not wait long, even on a slow link.
    private static let little: Int64 = 4 * 1024 * 1024

    private let staged: StagedGeneration
    private let codec: ColumnsCodec?
    /// What the store may come as a delta against: it stays as long as this does.
    let base: HeldGeneration?
    /// The part that is open, or was last.
    private var open: (part: Int, decoder: any PartDecoder)?
    /// Of the store as it came last.
    private var storeFlaw: CompressionError?
    /// Bytes of the parts before it.
    private var bytesBefore = Int64(0)
    private let turn: StoreTurns.Turn
    /// What waits to check the store, where that is a process of its own.
    private var checker: CheckerChild?

    init(
        _ staged: StagedGeneration, from sender: Sender, _ turn: StoreTurns.Turn, _ codec: ColumnsCodec?,
        over base: HeldGeneration? = nil, same: Generation? = nil
    ) {
        bytesTotal = staged.bytesToCome
        manifest = staged.manifest
        self.sender = sender
        self.staged = staged
        self.codec = codec
        self.base = base
        self.turn = turn
        self.same = same
    }

    var bytesDone: Int64 {
        min(bytesTotal, bytesBefore + (open?.decoder.bytesDone ?? 0))
    }

    /// A part comes from here on; all that has come of it is void.
    func open(part: Int, _ encoding: PartEncoding) throws {
        if let open, open.part != part { bytesBefore += manifest.parts[open.part].size }
        if part == 0 {
            storeFlaw = nil
            try staged.discardStore()
        }
        open = (part, try encoding.decoder(ofPart: part, of: manifest, in: staged, codec, over: base))
    }

    /// - Throws: What ends the shipment.
    func append(_ data: [UInt8], isLast: Bool) throws {
        guard let open else { throw BrokenInvariant("data without a part") }
        try open.decoder.append(data, isLast: isLast, to: staged)
        if open.part == 0 { storeFlaw = open.decoder.flaw }
    }

    /// The store is complete: whether it is what the manifest says.
    ///
    /// - Throws: `CompressionError` or `.mismatch` if it is not, after which it may come again; other errors are final.
    func sealStore() throws {
        if let storeFlaw { throw storeFlaw }
        try staged.sealStore()
    }

    /// The store is to come once more, and nothing else is.
    func awaitStoreAgain() throws {
        bytesBefore = bytesTotal - manifest.store.size
        (open, storeFlaw) = (nil, nil)
        try staged.discardStore()
    }

    /// Everything has come: nothing is trusted until it has been read back.
    func seal() throws -> SealedShipment {
        SealedShipment(try staged.seal(), from: sender, instead: same, checker, turn)
    }

    /// Once little is still to come: starts what checks the store in the end, which then has not to be waited for.
    func prepareCheck(_ options: CheckOptions) {
        guard checker == nil, bytesTotal - bytesDone <= Self.little else { return }
        checker = options.startChild(in: staged.storePathByDescriptor.removingLastComponent())
    }

    /// Ends what waits to check the store, where nothing more comes.
    func endCheck() async { await checker?.end() }
}
