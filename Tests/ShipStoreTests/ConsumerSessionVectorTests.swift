import ShipProtocol
import ShipTransport
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
        ].map { "dialogue_\($0)" })

    @Test(arguments: try VectorFile.all(.dialogue).filter { $0["consumer"] != nil && !others.contains($0.name) })
    func `says what its vector says, and ends so`(vector: VectorFile) async throws {
        let scratch = try ScratchFolder()
        let inbox = Inbox(at: scratch.path.appending("inbox"))
        // What it holds has to come first.
        if vector.bytes(labelled: "held") != nil {
            let installed = try #require(try VectorFile.all(.dialogue).first { $0.name == "dialogue_installed" })
            try await expectSession(of: installed, into: inbox)
        }
        try await expectSession(of: vector, into: inbox)
    }

    private func expectSession(of vector: VectorFile, into inbox: Inbox) async throws {
        let script = try VectorScript(vector, testing: "consumer")
        let takesColumns = script.hello.map { CommonEncodings($0).all.contains(.columns) } ?? true
        let session = ConsumerSession(
            judgement: SenderJudgement(trust: .localPrograms, unsigned: .asCarried),
            installer: try Installer(inbox: inbox, keeping: Retention(count: 3)),
            coordinator: StoreCoordinator(inbox: inbox.root), turns: StoreTurns(), budget: ShipmentBudget(),
            requirements: StoreRequirements(), checking: CheckOptions(), probes: ProbeRun([]),
            codec: takesColumns ? .standard : nil, timeouts: Timeouts(), report: { _ in })
        let link = Link(
            direction: .twoWay, reader: LinkReader(script), writer: LinkWriter(script), peer: .command("a vector"))
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
