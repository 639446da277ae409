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
            "cancelled_shipment_alone", "cancelled_shipment_before_parts", "cancelled_shipment_refused",
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
            "delta_after_blocks", "delta_after_columns", "delta_asked_after_columns",
            "delta_asked_after_columns_without_base", "delta_asked_among_others", "delta_asked_for_base",
            "delta_external_file", "delta_external_file_skipped", "delta_no_base_there", "delta_of_file",
            "delta_of_the_one_before", "delta_refused_then_next", "delta_then_blocks", "delta_then_blocks_at_once",
            "delta_then_columns", "delta_two_stores_and_whole", "delta_unproven_all", "delta_unproven_base_gone",
            "delta_unproven_cancelled", "delta_whole_then_columns", "packed_answer_not_json",
            "packed_answers_over_difference", "packed_answers_to_each",
        ].map { "dialogue_\($0)" })

    @Test(arguments: try VectorFile.all(.dialogue).filter { $0["producer"] != nil && !others.contains($0.name) })
    func `says what its vector says, and ends so`(vector: VectorFile) async throws {
        let scratch = try ScratchFolder()
        let script = try VectorScript(vector, testing: "producer")
        // Nobody comes to be offered anything where the vector's producer has not come to it.
        let unreached = ProducerSession.Order { throw BrokenInvariant("a copy is taken of what nobody asks for") }
        var manner = OutgoingShipment.Manner()
        let needsCodec = script.expected.contains {
            $0.hasPrefix("PART 0 \(PartEncoding.columns.rawValue)")
                || $0.hasPrefix("PART 0 \(PartEncoding.delta.rawValue)")
        }
        if needsCodec { manner.codec = .standard }
        let bases = try Self.bases(in: vector, scratch.path)
        let orders = try Self.manifests(in: vector).map { [manner, bases] manifest in
            let paths = try manifest.parts.enumerated().map { index, part in
                let path = scratch.path.appending("\(manifest.name)-\(index)-\(part.sha256.short)")
                if (try? PlatformCalls.status(of: path)) == nil {
                    try OpenFile.creating(path).write(try #require(VectorFile.contents[part.sha256]))
                }
                return path
            }
            return ProducerSession.Order { OutgoingShipment(manifest, at: paths, [:], manner) { bases } }
        }
        let session = ProducerSession(
            timeouts: Timeouts(), standing: SessionStanding(.localPrograms) {}, report: { _ in })
        let link = Link(
            direction: .twoWay, reader: LinkReader(script), writer: LinkWriter(script), peer: .command("a vector"))
        let results = await session.run(link, orders.isEmpty ? [unreached] : orders)
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

    private final class OpenedBase: OutgoingBase.Opened {
        let path: FilePath
        init(_ path: FilePath) { self.path = path }
    }

    /// What its consumer holds, as the producer remembers it.
    private static func bases(in vector: VectorFile, _ folder: FilePath) throws -> [OutgoingBase] {
        var (bases, content) = ([OutgoingBase](), ManifestContent(json: []))
        for section in vector.sections {
            if section.label == "held" { content = ManifestContent(json: section.bytes) }
            guard section.label == "base" else { continue }
            let path = folder.appending("base-\(bases.count)")
            try OpenFile.creating(path).write(section.bytes)
            // The current one stands last, and is the best.
            bases.insert(
                OutgoingBase(content: content, digest: ContentDigest(hashing: section.bytes)) { OpenedBase(path) },
                at: 0)
        }
        return bases
    }

    /// What the vector's producer offers.
    private static func manifests(in vector: VectorFile) throws -> [Manifest] {
        var (parser, manifests) = (FrameParser(), [Manifest]())
        for section in vector.sections where section.label == "held" {
            _ = parser.held.hold(ManifestContent(json: section.bytes))
        }
        for section in vector.sections where section.label == "producer" {
            parser.append(section.bytes)
            while let element = try parser.next() {
                if case .frame(.manifest(let manifest)) = element { manifests.append(manifest) }
            }
        }
        return manifests
    }
}
