import ShipProtocol
import ShipTransport
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// The sessions of the vectors, with the producer that ships, over a link in memory.
@Suite struct `A producer's session` {
    /// Where the vector's producer gives up by itself, sends so slowly that a word of the consumer's comes amid it, reads what comes
    /// after the last word on a shipment, or has a store that goes in other encodings than it does here; and where the link breaks,
    /// which has no code here. These are walked through by `A dialogue` alone.
    private static let others = Set(
        [
            "again_after_anew", "again_before_end", "again_columns_after_anew", "again_external_file",
            "again_no_such_part",
            "again_part_of_size_0", "again_store_and_external_file", "again_unknown_encoding", "answer_after_receipt",
            "answer_after_refusal", "answer_to_nothing", "answer_twice", "blocks_again", "cancelled_shipment",
            "cancelled_shipment_alone", "cancelled_shipment_at_once", "cancelled_shipment_before_parts",
            "cancelled_shipment_refused",
            "cancelled_shipment_unanswered", "cancelled_shipment_unchanged", "columns_again_cancelled",
            "columns_again_external_files", "columns_again_refused", "columns_again_then_next",
            "columns_again_unwanted",
            "columns_anew", "consumer_leaves", "consumer_leaves_after_cancel", "consumer_leaves_in_receipt",
            "consumer_leaves_second", "receipt_before_end", "receipt_twice", "refusal_after_receipt",
            "refusal_of_no_shipment", "refusal_twice", "refused_among_blocks", "refused_at_once",
            "refused_before_parts",
            "refused_session_among_blocks", "refused_session_between", "refused_session_in_second",
            "three_second_cancelled", "three_second_refused_among_parts", "wrong_digest_of_external_file",
            // What this producer would not begin, or takes back for reasons of its own, or packs otherwise.
            "again_after_unchanged", "again_delta", "again_delta_twice", "again_unchanged", "again_what_hello_names",
            "delta_after_blocks", "delta_after_columns", "delta_asked_after_columns",
            "delta_asked_after_columns_without_base", "delta_asked_among_others", "delta_asked_for_base",
            "delta_external_file", "delta_external_file_skipped", "delta_no_base_there", "delta_of_file",
            "delta_of_the_one_before", "delta_refused_then_next", "delta_then_blocks", "delta_then_blocks_at_once",
            "delta_then_columns", "delta_two_stores_and_whole", "delta_unproven_all", "delta_unproven_base_gone",
            "delta_unproven_cancelled", "delta_whole_then_columns", "packed_answer_not_json",
            "packed_answers_over_difference", "packed_answers_to_each",
            "resumed_cancelled", "resumed_declined_another_base", "resumed_declined_delta_columns", "resumed_refused",
            "resumed_then_columns", "resumed_then_columns_at_once",
        ].map { "dialogue_\($0)" })

    @Test(
        arguments: try ProtocolVector.all(.dialogue).filter {
            // Their stores come in blocks, and an external file does not.
            // Questions are answered by who follows, and small stores are not compared.
            $0["producer"] != nil && !others.contains($0.name) && !$0.name.hasPrefix("dialogue_delta_file_")
                && !$0.name.hasPrefix("dialogue_question") && !$0.name.hasPrefix("dialogue_compared_")
                && !goesOnInSegments($0)
        })
    func `says what its vector says, and ends so`(vector: ProtocolVector) async throws {
        let scratch = try ScratchFolder()
        let script = try VectorScript(vector, testing: "producer")
        // Nobody comes to be offered anything where the vector's producer has not come to it.
        let unreached = ProducerSession.Order { throw BrokenInvariant("a copy is taken of what nobody asks for") }
        var options = Producer.Options.inBlocks
        let goesByRows = script.expected.contains {
            $0.hasPrefix("PART 0 \(PartEncoding.columns.rawValue)")
                || $0.hasPrefix("PART 0 \(PartEncoding.delta.rawValue)")
                || $0.hasPrefix("PART 1 \(PartEncoding.delta.rawValue)")
        }
        if goesByRows { options.encoding = .columns }
        let bases = try Self.bases(in: vector, scratch.path)
        let record = Self.record
        let signed = try Self.signedManifests(in: vector)
        let orders = try Self.manifests(in: vector).map { [options, bases] manifest in
            let signed = signed.first { $0.manifest == manifest.over(nil) }
            let manifest = signed?.manifest ?? manifest
            let paths = try manifest.parts.enumerated().map { index, part in
                let path = scratch.path.appending("\(manifest.name)-\(index)-\(part.sha256.short)")
                if (try? PlatformCalls.status(of: path)) == nil {
                    try OpenFile.creating(path).write(try #require(ProtocolVector.contents[part.sha256]))
                }
                return path
            }
            let record = try record(vector, manifest, scratch.path)
            return ProducerSession.Order {
                let version = StoreVersion(manifest, at: paths, [:], signed: signed)
                return OutgoingShipment(version, options, keeping: record) { bases }
            }
        }
        let session = ProducerSession(
            timeouts: Timeouts(), authorization: SessionAuthorization(.localPrograms) {}, report: { _ in })
        let link = PeerLink(
            direction: .twoWay, reader: script, writer: script, peer: .at(.command("a vector")))
        let results = await session.run(link, orders.isEmpty ? [unreached] : orders).results
        var said = await script.said
        var end = "done"
        if await !script.isFinished, case .failure(let failure)? = results.last {
            if case .refused(let reason) = failure {
                end = "refused \(reason.code)"
            } else {
                end = "failed \(failure.code ?? "")"
            }
        }
        #expect(end == vector["producer"])
        // Nobody hears the last word to a consumer that has left.
        if said.count > script.expected.count, end.hasPrefix("failed") {
            #expect(said.popLast() == "CANCEL \(end.dropFirst("failed ".count)) of the session")
        }
        #expect(said == script.expected)
        let ends = results.compactMap { try? $0.get() }.map {
            "\($0.manifest.name) \($0.receipt.map { "\($0.outcome)" } ?? "")"
        }
        #expect(ends == vector.all("shipment").filter { $0.hasSuffix(" installed") || $0.hasSuffix(" unchanged") })
    }

    /// What the vector's producer has sent of a shipment before: it goes on where its opening says so: then it knows all of the DATA that was cut.
    private static func record(of vector: ProtocolVector, _ manifest: Manifest, _ folder: FilePath) throws
        -> SendingRecord?
    {
        for waiting in try WaitingShipment.all(in: vector) {
            for stream in waiting.streams {
                guard let (index, next) = try next(after: stream, in: vector, manifest) else { continue }
                let header = PartStream.Header(stream.encoding, of: manifest.parts[index], over: stream.base)
                let path = folder.appending(
                    "stream-\(stream.part.sha256.short)-\(manifest.name)-\(manifest.counter ?? 0)")
                let file = try PartStream(header, writing: try OpenFile.creating(path))
                for piece in stream.pieces {
                    let isCut = piece.data.count < piece.size
                    let data = isCut ? piece.data + next.bytes : piece.data
                    guard data.count == piece.size else { continue }
                    let block =
                        stream.encoding == .blocks
                        ? UInt64(data.dropFirst().prefix(4).reduce(0) { $0 << 8 | UInt32($1) }) : 0
                    let setting = stream.encoding == .columns ? 1 << 20 : stream.encoding == .delta ? 6 : block
                    try file.append(
                        data, of: data.count, note: PieceNote(setting, isLast: isCut && next.isLast).rawValue)
                }
                return SendingRecord(goingOnWith: { [{ (file, nil) }] }, start: { nil })
            }
        }
        return nil
    }

    /// The part of a shipment that goes on after a stream, and the first DATA then.
    private static func next(
        after stream: WaitingShipment.Stream, in vector: ProtocolVector, _ manifest: Manifest
    ) throws -> (index: Int, data: PartData)? {
        var goesOn: Int?
        for frame in try frames(in: vector) {
            switch frame {
            case .part(let opening):
                let index = Int(opening.part)
                let isOfIt =
                    opening.position > 0 && manifest.parts.indices.contains(index)
                    && manifest.parts[index] == stream.part
                goesOn = isOfIt ? index : nil
            case .data(let data): if let goesOn { return (goesOn, data) }
            default: break
            }
        }
        return nil
    }

    /// Whether it goes on in segments, which follow from those before only where these are of the same encoder.
    private static func goesOnInSegments(_ vector: ProtocolVector) -> Bool {
        ((try? frames(in: vector)) ?? []).contains { frame in
            guard case .part(let opening) = frame, opening.position > 0 else { return false }
            return opening.encoding != PartEncoding.blocks.rawValue
        }
    }

    /// What its consumer holds, as the producer remembers it.
    private static func bases(in vector: ProtocolVector, _ folder: FilePath) throws -> [OutgoingBase] {
        var (bases, content) = ([OutgoingBase](), ManifestContent(json: []))
        for section in vector.sections {
            if section.label == "held" { content = ManifestContent(json: section.bytes) }
            guard section.label == "base" else { continue }
            let path = folder.appending("base-\(bases.count)")
            try OpenFile.creating(path).write(section.bytes)
            // The current one stands last, and is the best.
            let files = vector.externalFiles
            let paths = try files.mapValues { bytes in
                let path = folder.appending("base-\(bases.count)-\(ContentDigest(hashing: bytes).short)")
                try OpenFile.creating(path).write(bytes)
                return path
            }
            let listed = content.json.isEmpty ? [] : try HeldInVector.manifest(content.json).externalFiles
            bases.insert(
                OutgoingBase(
                    content: content, digest: ContentDigest(hashing: section.bytes), open: { (path, path) },
                    files: listed.filter { files[$0.sha256] != nil },
                    openFile: { file in paths[file.sha256].map { ($0, $0) } }), at: 0)
        }
        return bases
    }

    /// What the vector's producer offers.
    private static func manifests(in vector: ProtocolVector) throws -> [Manifest] {
        try frames(in: vector).compactMap { if case .manifest(let manifest) = $0 { manifest } else { nil } }
    }

    /// What the vector's producer passes on, or signs.
    private static func signedManifests(in vector: ProtocolVector) throws -> [SignedManifest] {
        var (parser, found, signature) = (FrameParser(), [SignedManifest](), Signature?.none)
        for section in vector.sections where section.label == "producer" && vector.name.hasPrefix("dialogue_signed_") {
            parser.append(section.bytes)
            while let element = try parser.next() {
                if case .frame(.signature(let proof)) = element { signature = proof }
                guard case .frame(.manifest(let manifest)) = element, let proof = signature,
                    let payload = parser.signedPayload
                else { continue }
                found.append(SignedManifest(proof, payload: payload, saying: manifest))
                signature = nil
            }
        }
        return found
    }

    /// What the vector's producer sends.
    private static func frames(in vector: ProtocolVector) throws -> [Frame] {
        var (parser, frames) = (FrameParser(), [Frame]())
        for section in vector.sections where ["held", "unfinished"].contains(section.label) {
            _ = parser.held.hold(ManifestContent(json: section.bytes))
        }
        for section in vector.sections where section.label == "producer" {
            parser.append(section.bytes)
            while let element = try parser.next() {
                guard case .frame(let frame) = element else { continue }
                frames.append(frame)
                if case .manifest(let manifest) = frame { parser.held.install(manifest) }
            }
        }
        return frames
    }
}
