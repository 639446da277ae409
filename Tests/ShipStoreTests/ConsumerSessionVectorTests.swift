import FoundationEssentials
import ShipProtocol
import ShipTransport
import StoreFiles
import StoreInbox
import StoreInstall
import StoreServing
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// The sessions of the vectors, with the consumer that ships: with files, SQLite and an inbox, over a link in memory.
@Suite struct `A consumer's session` {
    /// Where the vector's consumer holds or wants something else than ours does with an empty inbox, or has no room: these
    /// are walked through by `A dialogue` alone.
    private static let others = Set(
        [
            "blocks_again", "columns_again_or_more", "columns_again_unwanted", "columns_or_blocks", "columns_refused",
            "columns_wanted", "difference_from_another", "difference_from_long", "difference_installed",
            "end_without_wanted_part", "part_before_answer", "passed_over_manifest",
            "passed_over_until_end", "three_second_unchanged", "three_second_wants_nothing", "unwanted_anything",
            "unwanted_encoding", "unwanted_encoding_anew",
            "unwanted_part", "unwanted_store", "wants_absent_encodings", "wants_everything_by_name",
            "wants_external_file_alone", "wants_first_liked", "wants_nothing", "wants_store_alone",
            // What this consumer would not name, or ask for.
            "again_refused", "again_room_again", "again_two_stores", "compared_crossing", "compared_refused",
            "compared_without_base",
            "delta_again_base_named", "delta_back_to_kept", "delta_base_null", "delta_base_of_external_file",
            "delta_external_file", "delta_file_not_offered", "delta_file_source_gone", "delta_file_unwanted",
            "delta_file_wanted_alone", "delta_manifest_not_named", "delta_no_base_named", "delta_not_offered",
            "delta_not_offered_by_name", "delta_not_offered_without_base", "delta_not_taken",
            "delta_of_kept_manifest_of_current", "delta_or_columns", "delta_unproven_base_gone",
            "delta_unproven_base_named", "delta_unproven_columns_alone", "delta_unproven_then_next",
            "delta_unproven_blocks", "delta_unproven_refused", "delta_unwanted",
            "delta_wanted_alone", "packed_answers", "packed_answers_over_difference", "packed_answers_to_each",
            "store_twice",
            // What waits here is named as it is, and goes on in the first part that comes, in the answer to MANIFEST.
            "resumed_after_all", "resumed_again", "resumed_another_copy", "resumed_another_part",
            "resumed_between_parts", "resumed_external_file_by_name", "resumed_external_file_of_another_copy",
            "resumed_from_null", "resumed_manifest_not_named", "resumed_next_shipment", "resumed_not_named",
            "resumed_not_next_part", "resumed_not_wanted_from", "resumed_replayed_then_newer", "resumed_two_stores",
            "resumed_unproven_blocks", "resumed_unproven_from",
            // It takes signatures.
            "signature", "signed_of_a_later_version",
        ].map { "dialogue_\($0)" })

    @Test(arguments: try ProtocolVector.all(.dialogue).filter { $0["consumer"] != nil && !others.contains($0.name) })
    func `says what its vector says, and ends so`(vector: ProtocolVector) async throws {
        let scratch = try ScratchFolder()
        let inbox = Inbox(at: scratch.path.appending("inbox"))
        // What it holds has to come first.
        if vector.bytes(labelled: "base") != nil {
            try await hold(vector, in: inbox)
        } else if vector.bytes(labelled: "held") != nil {
            let installed = try #require(try ProtocolVector.all(.dialogue).first { $0.name == "dialogue_installed" })
            try await expectSession(of: installed, into: inbox)
        }
        for waiting in try WaitingShipment.all(in: vector) { try leave(waiting, of: vector, in: inbox) }
        try await expectSession(of: vector, into: inbox)
    }

    /// Leaves what an earlier session would have left that broke off.
    private func leave(_ waiting: WaitingShipment, of vector: ProtocolVector, in inbox: Inbox) throws {
        let manifest = waiting.manifest
        let staging = inbox.layout.staging(manifest.name).appending("\(UUID())")
        try Folder.make(staging)
        let folder = try OpenFolder(following: staging)
        for bytes in waiting.whole {
            let digest = ContentDigest(hashing: bytes)
            let index = try #require(manifest.parts.firstIndex { $0.sha256 == digest })
            let path = staging.appending(Generation.relativePath(ofPart: index, of: manifest).components)
            try folder.makeFolder(at: path.removingLastComponent())
            try folder.makeFile(at: path).write(bytes)
        }
        for stream in waiting.streams {
            let header = PartStream.Header(stream.encoding, of: stream.part, over: stream.base)
            let file = try PartStream(header, at: staging.appending(InboxLayout.streamFile), in: folder)
            // As much as the vector's consumer goes on from.
            let position = try VectorScript(vector, testing: "consumer").positions[stream.encoding] ?? 0
            for piece in stream.prefix(position) { try file.append(piece.data, of: piece.size) }
        }
        try folder.makeFile(at: staging.appending(InboxLayout.manifestFile)).write(manifest.jsonBytes)
        try folder.makeFile(at: staging.appending(InboxLayout.waitingFile))
            .write(WaitingRecord(producer: nil).jsonBytes)
    }

    /// Installs what the vector says is held: the contents of manifests, each with its store.
    private func hold(_ vector: ProtocolVector, in inbox: Inbox) async throws {
        let installer = try Installer(inbox: inbox, keeping: Retention(count: 3))
        var content: [UInt8] = []
        let files = vector.externalFiles
        for section in vector.sections {
            switch section.label {
            case "held": content = section.bytes
            case "base":
                let circumstances =
                    #""createdAt":"2026-11-20T00:00:00Z","producer":{"software":"s","sqlite":"3.40.1"},"#
                let manifest = try Manifest(
                    decoding:
                        Array("{".utf8) + Array(circumstances.utf8) + content.dropFirst())
                let staged = try installer.stage(manifest, present: [:])
                try staged.append(section.bytes, toPart: 0)
                for (index, part) in manifest.parts.enumerated().dropFirst() where part.size > 0 {
                    try staged.append(
                        try #require(files[part.sha256] ?? ProtocolVector.contents[part.sha256]), toPart: index)
                }
                _ = try await installer.install(try staged.seal()) { _ in }
            default: break
            }
        }
    }

    private func expectSession(of vector: ProtocolVector, into inbox: Inbox) async throws {
        let script = try VectorScript(vector, testing: "consumer")
        let takesColumns = script.hello.map { CommonEncodings($0).all.contains(.columns) } ?? true
        var options = Consumer.Options()
        options.codec = takesColumns ? FileCodec() : nil
        let installer = try Installer(inbox: inbox, keeping: Retention(count: 3))
        let session = ConsumerSession(
            options: options, installer: installer, bases: installer.folder,
            coordinator: StoreCoordinator(inbox: inbox.root),
            queues: StoreQueues(), bells: Bells(installer.folder), report: { _ in })
        let link = PeerLink(
            direction: .twoWay, reader: script, writer: script, peer: .at(.command("a vector")))
        var end = "done"
        do throws(ShipmentError) {
            _ = try await session.run(link, greeting: .atOnce)
        } catch .givenUp(let reason) {
            end = "cancelled \(reason.code)"
        } catch {
            end = "failed \(error.code ?? "")"
        }
        #expect(end == vector["consumer"])
        var said = await script.said
        // Nobody hears the last word to a producer that has left.
        if end.hasPrefix("failed"), script.expected.last?.hasSuffix("of the session") != true {
            #expect(said.popLast() == "REFUSAL \(end.dropFirst("failed ".count)) of the session")
        }
        #expect(said == script.expected)
    }
}
