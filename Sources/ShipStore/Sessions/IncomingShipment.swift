import ShipCompression
import ShipProtocol
import StoreEncoding
import StoreFiles
import StoreFormat
import StoreInbox
import StoreInstall
import StoreServing
import SystemPackage

/// A shipment that is being received: its staging, its decoders, and the permit to work on its store. When it is dropped before it is
/// installed, the staging is removed, unless the shipment has broken off and waits for the rest.
///
///     IncomingShipment -> seal -> SealedGeneration -> Installer.install -> Generation
final class IncomingShipment {
    /// Bytes of all parts that are to come, decoded.
    let bytesTotal: Int64
    /// The current generation, if it is this very shipment.
    let same: Generation?

    let manifest: Manifest
    let sender: Sender

    /// When no more bytes than this are to come, the checking process is started: it does not wait long, even on a slow link.
    private static let checkerStart: Int64 = 4 * 1024 * 1024

    private let staged: StagedGeneration
    private let codec: (any StoreCodec)?
    private let limits: DecodingLimits
    /// The base of deltas; kept as long as this lives.
    let base: HeldGeneration?
    /// The part that is open, or was last.
    private var open: (part: Int, decoder: PartDecoder)?
    /// The flaw of each part as it came last, `nil` for none; without external files in blocks, which have no other encoding to come in.
    private var provable: [Int: CompressionError?] = [0: nil]
    private var opened: Set<Int> = []
    /// Bytes of the parts before the open one.
    private var bytesBefore = Int64(0)
    /// Compares the base with the producer's store, once it is asked to.
    private var comparison: RangeAnswers?
    private let slot: StoreQueues.Slot
    /// Waits to check the store, where another process does that.
    private var checker: (any StartedChecker)?
    /// Its check, once that has begun.
    private var check: Task<CheckReport, any Error>?
    /// The beginning of a DATA that an earlier session cut; the next DATA is its rest.
    private var cutData: (bytes: [UInt8], size: Int)?

    init(
        _ staged: StagedGeneration, from sender: Sender, _ slot: StoreQueues.Slot, _ codec: (any StoreCodec)?,
        _ limits: DecodingLimits, over base: HeldGeneration? = nil, same: Generation? = nil
    ) {
        bytesTotal = staged.bytesToCome
        manifest = staged.manifest
        self.sender = sender
        self.staged = staged
        self.codec = codec
        self.limits = limits
        self.base = base
        self.slot = slot
        self.same = same
    }

    var bytesDone: Int64 {
        min(bytesTotal, bytesBefore + (open?.decoder.bytesDone ?? 0))
    }

    /// The answer to the offer of it: what is to come, over what.
    func answer(skipping skipped: Set<Int>, in encodings: CommonEncodings) throws -> Answer {
        let parts = manifest.parts
        let coming = parts.indices.filter { !skipped.contains($0) && parts[$0].size > 0 }
        let begun = try begun(of: coming, in: encodings)
        let storeBase = coming.first == 0 ? base?.digest : nil
        let filesBase = base.flatMap { $0.manifest.hasFiles && coming.last ?? 0 > 0 ? $0.digest : nil }
        let isPlain = skipped.isEmpty && storeBase == nil && filesBase == nil && begun == nil
        return isPlain ? .everything : Answer(parts: coming, over: storeBase, files: filesBase, goingOnWith: begun)
    }

    /// The part that goes on from an earlier session, which brought the beginning of its stream.
    ///
    /// - Parameter coming: The parts that are wanted: only the first can go on.
    /// - Returns: `nil` if the first part begins anew.
    func begun(of coming: [Int], in encodings: CommonEncodings) throws(InboxError) -> WantedPart? {
        guard let stream = staged.earlierStream, let part = earlierPart, part == coming.first else { return nil }
        // An external file is a delta against a file of the base, and the answer names a base without files for the store alone.
        let base = part == 0 || base?.manifest.hasFiles == true ? base : nil
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

    /// The part whose stream an earlier session has begun.
    private var earlierPart: Int? {
        guard let header = staged.earlierStream?.header else { return nil }
        return manifest.parts.indices.first { index in
            let part = manifest.parts[index]
            return part.sha256 == header.sha256 && part.size == header.size && !staged.wholeParts.contains(index)
        }
    }

    /// Tells what the base has in common with the producer's store.
    ///
    /// - Returns: Nothing where there is no base that can be compared, or the device has searched the store a moment ago.
    /// - Throws: `CompressionError.damaged` for a request that breaks a rule; `CancellationError`.
    func compare(_ request: [UInt8], _ queues: StoreQueues) throws -> [UInt8] {
        guard let base, comparison != nil || queues.beginSearch(of: manifest.name, for: sender.peer) else { return [] }
        do {
            if comparison == nil {
                let pages = try PageFile(reading: base.storePath) { [limits] in try limits.interrupt() }
                comparison = try RangeAnswers(pages, nonce: RangeAnswers.makeNonce())
            }
            return try comparison?.answer(request) ?? []
        } catch is StoreFlaw, is FileError, is SenderGone {
            // That the sender has gone, the end of the link says right after this.
            return []
        }
    }

    /// A part comes from here on. What has come of it is void, but for the stream from which it goes on.
    ///
    /// - Parameter position: Where in its stream: 0, or the position that `begun` returned.
    func open(part: Int, _ encoding: PartEncoding, position: Int64) throws {
        if let open, open.part != part { bytesBefore += manifest.parts[open.part].size }
        (cutData, comparison) = (nil, nil)
        provable[part] = nil
        if part == 0 || !opened.insert(part).inserted { try staged.discard(part: part) }
        let decoder = try PartDecoder(ofPart: part, of: manifest, in: encoding, into: staged, codec, over: base, limits)
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
                try decoder.append(data, isLast: false)
            } else {
                cutData = (data, entry.size)
            }
        }
        note(decoder.flaw, of: part, in: encoding)
    }

    private func note(_ flaw: CompressionError?, of part: Int, in encoding: PartEncoding) {
        if part == 0 || encoding != .blocks { provable.updateValue(flaw, forKey: part) }
    }

    func append(_ data: [UInt8], isLast: Bool) throws {
        guard let open else { throw BrokenInvariant("data without a part") }
        let cut = cutData.take()
        if let cut, cut.bytes.count + data.count != cut.size {
            throw ProtocolError.badPart("what follows is not the rest of what was cut")
        }
        try open.decoder.append((cut?.bytes ?? []) + data, isLast: isLast)
        if provable[open.part] != nil { provable.updateValue(open.decoder.flaw, forKey: open.part) }
        guard open.decoder.flaw == nil else { return staged.endStream() }
        guard !open.decoder.isAbandoned else {
            // The end of a stream is no position that it could go on from.
            if !isLast { staged.keep(data) }
            return
        }
        // Once the last DATA has come, the part itself is kept, and its stream is not.
        if isLast { staged.endStream(complete: open.part) } else { staged.keep(data) }
    }

    /// The link is broken: keeps what has come for the next session.
    ///
    /// - Parameter data: What has come of a DATA that was on its way, and how many bytes it was to have.
    func breakOff(_ data: (bytes: [UInt8], size: Int)?) {
        // The rest of a cut DATA was cut again: it must be as long as what was missing.
        if let cutData, let data, data.size != cutData.size - cutData.bytes.count { return staged.breakOff(nil) }
        staged.breakOff(data)
    }

    /// The parts that are not as the manifest says, and may come again in another encoding, with their flaws: also those that were here
    /// already, and have been damaged. Others are sealed.
    ///
    /// - Throws: Errors that are final.
    func unproven() throws -> [(part: Int, flaw: any Error)] {
        if open?.decoder.isAbandoned == true { throw ProtocolError.truncated }
        for part in staged.linkedParts { provable.updateValue(nil, forKey: part) }
        return try provable.sorted { $0.key < $1.key }.compactMap { part, flaw in
            if let flaw { return (part, flaw) }
            do throws(InboxError) {
                try staged.seal(part: part)
                return nil
            } catch .mismatch(let path) {
                return (part, InboxError.mismatch(path))
            }
        }
    }

    /// Only these parts are to come, once more.
    func awaitAgain(_ parts: [Int]) throws {
        bytesBefore = bytesTotal - parts.reduce(0) { $0 + manifest.parts[$1].size }
        open = nil
        for part in parts { try staged.discard(part: part) }
    }

    /// Everything has come: reads it back, and compares it with the manifest.
    func seal() throws -> SealedGeneration { try staged.seal() }

    /// Checks as a store what has been read back.
    func check(_ sealed: borrowing SealedGeneration, _ options: CheckOptions) async throws -> CheckReport {
        guard let check else {
            return try await options.check(sealed.storePathByDescriptor, against: StoreClaims(manifest), by: checker)
        }
        return try await withTaskCancellationHandler {
            try await check.value
        } onCancel: {
            check.cancel()
        }
    }

    /// Begins to check the store in the process for that, while this one syncs it and reads it back. What the check finds counts only once
    /// the digest is right.
    ///
    /// For a sender that says the digest itself: what somebody else vouches for is read by SQLite only after the digest has proved it.
    func beginCheck(_ options: CheckOptions) {
        guard let checker, check == nil, provable.values.allSatisfy({ $0 == nil }) else { return }
        check = Task { [path = staged.storePathByDescriptor, claims = StoreClaims(manifest)] in
            try await options.check(path, against: claims, by: checker)
        }
    }

    /// Starts the process that checks the store in the end, once little is still to come: then the check does not wait for its start.
    func prepareCheck(_ options: CheckOptions) {
        guard checker == nil, bytesTotal - bytesDone <= Self.checkerStart else { return }
        checker = options.startChecker(in: staged.storePathByDescriptor.removingLastComponent())
    }

    /// Ends that process. Where a part comes again, another one checks.
    func endCheck() async {
        check?.cancel()
        _ = await check?.result
        await checker?.end()
        (check, checker) = (nil, nil)
    }
}
