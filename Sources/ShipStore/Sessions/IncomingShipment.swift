import ShipCompression
import ShipProtocol
import StoreInbox
import StoreInstall
import StoreServing
import SystemPackage

/// A shipment that is being received: its staging, its decoders, and the right to its store. When it is dropped before it
/// is installed, the staging goes, unless it has broken off and waits for the rest.
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
    /// What parts may come as a delta against: it stays as long as this does.
    let base: HeldGeneration?
    /// The part that is open, or was last.
    private var open: (part: Int, decoder: any PartDecoder)?
    /// Of each part but those in blocks, which come out no other way, what was wrong with it as it came last: `nil` for nothing.
    private var provable: [Int: CompressionError?] = [0: nil]
    /// Parts of which something has come.
    private var opened: Set<Int> = []
    /// Bytes of the parts before it.
    private var bytesBefore = Int64(0)
    private let turn: StoreTurns.Turn
    /// What waits to check the store, where that is done somewhere else.
    private var checker: (any StartedChecker)?
    /// Of a DATA that an earlier session has cut, what it brought; the next one is the rest of it.
    private var cutData: (bytes: [UInt8], size: Int)?

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

    /// Parts that an earlier session has brought as a whole.
    var wholeParts: Set<Int> { staged.wholeParts }

    /// The part of which an earlier session has brought the beginning of the stream.
    ///
    /// - Parameters:
    ///   - coming: The parts that are wanted: only what comes first goes on.
    ///   - encodings: What both sides can do.
    func begun(of coming: [Int], in encodings: CommonEncodings) throws(InboxError) -> WantedPart? {
        guard let stream = staged.earlierStream, let part = earlierPart, part == coming.first else { return nil }
        let possible = encodings.suiting(part: part, over: base?.digest)
        let encoding = stream.header.encoding
        guard possible.contains(encoding), stream.header.base == (encoding.needsBase ? base?.digest : nil) else {
            return nil
        }
        let digest = try InboxError.wrapping { () throws(FileError) in try stream.digest(upTo: stream.position) }
        return digest.map {
            WantedPart(part, possible, after: StreamStart(encoding, position: stream.position, sha256: $0))
        }
    }

    /// The part of which an earlier session has brought some.
    private var earlierPart: Int? {
        guard let header = staged.earlierStream?.header else { return nil }
        return manifest.parts.indices.first { index in
            let part = manifest.parts[index]
            return part.sha256 == header.sha256 && part.size == header.size && !wholeParts.contains(index)
        }
    }

    /// A part comes from here on; all that has come of it is void, but for what it goes on from.
    ///
    /// - Parameter position: Of its stream: 0, or where `starts` says.
    func open(part: Int, _ encoding: PartEncoding, position: Int64) throws {
        if let open, open.part != part { bytesBefore += manifest.parts[open.part].size }
        cutData = nil
        provable[part] = nil
        if part == 0 || !opened.insert(part).inserted { try staged.discard(part: part) }
        let decoder = try encoding.decoder(ofPart: part, of: manifest, in: staged, codec, over: base)
        open = (part, decoder)
        note(decoder.flaw, of: part, in: encoding)
        let earlier = staged.earlierStream
        staged.open(part: part, encoding, over: base?.digest, after: position > 0)
        guard position > 0 else { return }
        guard let earlier, earlier.position == position else {
            throw BrokenInvariant("a stream goes on from where it never was")
        }
        for (index, entry) in earlier.entries.enumerated() {
            try Task.checkCancellation()
            let data = try earlier.data(index)
            if entry.isWhole {
                try decoder.append(data, isLast: false, to: staged)
            } else {
                cutData = (data, entry.size)
            }
        }
        note(decoder.flaw, of: part, in: encoding)
    }

    private func note(_ flaw: CompressionError?, of part: Int, in encoding: PartEncoding) {
        if part == 0 || encoding != .blocks { provable.updateValue(flaw, forKey: part) }
    }

    /// - Throws: What ends the shipment.
    func append(_ data: [UInt8], isLast: Bool) throws {
        guard let open else { throw BrokenInvariant("data without a part") }
        let cut = cutData
        cutData = nil
        if let cut, cut.bytes.count + data.count != cut.size { throw ProtocolError.badPart(.rest) }
        try open.decoder.append((cut?.bytes ?? []) + data, isLast: isLast, to: staged)
        if provable[open.part] != nil { provable.updateValue(open.decoder.flaw, forKey: open.part) }
        guard open.decoder.flaw == nil else { return staged.endStream() }
        // Once the last has come, the part stands for its stream.
        if isLast { staged.endStream(complete: open.part) } else { staged.keep(data, isRest: cut != nil) }
    }

    /// The link is broken: what has come is kept for the next session.
    ///
    /// - Parameter data: Of a DATA that was on its way: what is here, and how many bytes it was to have.
    func breakOff(_ data: (bytes: [UInt8], size: Int)?) {
        // Of the rest of a cut one that was itself cut, there is so much to come.
        if let cutData, let data, data.size != cutData.size - cutData.bytes.count { return staged.breakOff(nil) }
        staged.breakOff(data)
    }

    /// All has come: which parts are not what the manifest says, and may come again, and why. The others that can come otherwise are
    /// proven then.
    ///
    /// - Throws: Errors that are final.
    func unproven() throws -> [(part: Int, flaw: any Error)] {
        try provable.sorted { $0.key < $1.key }.compactMap { part, flaw in
            if let flaw { return (part, flaw) }
            do throws(InboxError) {
                try staged.seal(part: part)
                return nil
            } catch .mismatch(let path) {
                return (part, InboxError.mismatch(path))
            }
        }
    }

    /// These parts are to come once more, and nothing else is.
    func awaitAgain(_ parts: [Int]) throws {
        bytesBefore = bytesTotal - parts.reduce(0) { $0 + manifest.parts[$1].size }
        open = nil
        for part in parts { try staged.discard(part: part) }
    }

    /// Everything has come: nothing is trusted until it has been read back.
    func seal() throws -> SealedShipment {
        SealedShipment(try staged.seal(), from: sender, instead: same, checker, turn)
    }

    /// Once little is still to come: starts what checks the store in the end, which then has not to be waited for.
    func prepareCheck(_ options: CheckOptions) {
        guard checker == nil, bytesTotal - bytesDone <= Self.little else { return }
        checker = options.startChecker(in: staged.storePathByDescriptor.removingLastComponent())
    }

    /// Ends what waits to check the store, where nothing more comes.
    func endCheck() async { await checker?.end() }
}
