import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A command that was killed, and is given again, may find that nothing is left to do. What it says then survives a power cut: it is as
/// durable as if the command had done it.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct RepeatedCommandTests {
    enum Repeated: String, CaseIterable, Sendable {
        case trust, distrust, identity, rollback, release, allowAgain, forget, prune, removeBases, addBase

        /// - Parameter stranger: The id of another device.
        func arguments(_ stranger: String) -> [String] {
            switch self {
            case .trust: ["trust", stranger, "--name", "phone"]
            case .distrust: ["distrust", "watch"]
            case .identity: ["identity"]
            case .rollback: ["rollback", "Recipes", "--into", "inbox", "--to", "1"]
            case .release: ["rollback", "Recipes", "--into", "inbox", "--release"]
            case .allowAgain: ["rollback", "Recipes", "--into", "inbox", "--allow-again"]
            case .forget: ["forget", "Recipes", "--into", "inbox"]
            case .prune: ["prune", "--into", "inbox", "--keep", "1"]
            case .removeBases: ["bases", "--remove", "Recipes"]
            case .addBase: ["bases", "--add", "Recipes.base.sqlite", "Recipes.sqlite"]
            }
        }

        /// What it is to remove is not there any more, and it says so.
        var mayFindNothing: Bool { [.distrust, .forget, .removeBases].contains(self) }
    }

    private let stranger: String
    private let sample: ShipmentSample
    private let template: FilePath

    /// A device that trusts another one, remembers a copy, and has an inbox with two generations.
    init() async throws {
        sample = try await ShipmentSample(in: .inMemory())
        template = try sample.scratch.folder("desk")
        let inbox = template.appending("inbox").string
        for shipment in sample.shipments {
            try await Self.expectSuccess(["receive", "--into", inbox, "--from", shipment.string], at: template)
        }
        let other = try await BuiltProgram.run(["identity"], environment: Self.environment(at: sample.scratch.path))
        stranger = try #require(other.lines.first)
        let receiver = "exec:'\(try BuiltProgram.path())' receive --into '\(sample.scratch.path)/other' --from - -q"
        try await Self.expectSuccess(["send", sample.source.string, "--to", receiver, "-q"], at: template)
        try await Self.expectSuccess(["trust", stranger, "--name", "watch"], at: template)
    }

    private static func environment(at desk: FilePath) -> [String: String] {
        ["XDG_CONFIG_HOME": desk.appending("config").string, "XDG_STATE_HOME": desk.appending("state").string]
    }

    @discardableResult
    private static func expectSuccess(
        _ arguments: [String], at desk: FilePath, _ comment: Comment = ""
    ) async throws -> ChildProgram.Outcome {
        try await BuiltProgram.expectSuccess(arguments, environment: Self.environment(at: desk), in: desk, comment)
    }

    private func newDesk(for command: Repeated, in place: FilePath) async throws -> FilePath {
        let desk = place.appending("desk")
        try FileManager.default.copyItem(atPath: template.string, toPath: desk.string)
        switch command {
        case .trust, .identity: try Folder.removeTree(at: desk.appending("config"))
        case .release, .allowAgain: try await Self.expectSuccess(Repeated.rollback.arguments(stranger), at: desk)
        case .addBase:
            // What receivers have acknowledged has the same content, and may go with the power.
            try await Self.expectSuccess(["bases", "--remove-all"], at: desk)
            for name in ["Recipes.base.sqlite", "Recipes.sqlite"] {
                try await Self.expectSuccess(
                    ["copy", sample.source.string, "--to", desk.string, "--as", name], at: desk)
            }
        case .distrust, .rollback, .forget, .prune, .removeBases: break
        }
        return desk
    }

    @Test(arguments: Repeated.allCases)
    func `killed at any call and given again, a command says only what survives a power cut`(
        command: Repeated
    ) async throws {
        var call = 1
        while try await round(command, call) { call += Soak.isOn || call < 8 ? 1 : 5 }
        #expect(call > 3, "the shim counts almost nothing")
    }

    /// - Returns: Whether there was such a call.
    private func round(_ command: Repeated, _ call: Int) async throws -> Bool {
        let place = try sample.scratch.folder("\(UUID())")
        defer { try? Folder.removeTree(at: place) }
        let desk = try await newDesk(for: command, in: place)
        let (log, comment) = (
            place.appending("calls"), "\(command.rawValue), killed at call \(call), and again" as Comment
        )
        let kept = place.appending("kept")
        try PlatformCalls.makeFolder(kept)
        let disk = try CutDisk(of: desk, keepingIn: kept)
        func run(_ shim: [String: String]) async throws -> ChildProgram.Outcome {
            try await BuiltProgram.run(
                command.arguments(stranger), environment: Self.environment(at: desk).merging(shim) { $1 }, in: desk)
        }
        _ = try await run(FaultShim.environment(.kill, at: call, log: log, keepingIn: kept))
        let again = try await run(FaultShim.environment(log: place.appending("calls again"), keepingIn: kept))
        let findsNothing = command.mayFindNothing && again.status == .exited(66)
        #expect(again.status == .exited(0) || findsNothing, "\(comment) \(again.stderr)")
        let seed = UInt64.random(in: 0..<1 << 32)
        for loss in CutDisk.Loss.all(mixtures: Soak.isOn ? 20 : 1, from: seed) {
            let image = place.appending("\(UUID())")
            try disk.make(image, losing: loss)
            try await expect(command, of: again, at: image, "\(comment): \(loss)")
        }
        return FaultShim.calls(in: log).count >= call
    }

    /// - Parameter image: What a power cut has left.
    private func expect(
        _ command: Repeated, of outcome: ChildProgram.Outcome, at image: FilePath, _ comment: Comment
    ) async throws {
        let inbox = image.appending("inbox")
        func paths(in folder: FilePath) -> [String] {
            (try? FileManager.default.subpathsOfDirectory(atPath: folder.string)) ?? []
        }
        switch command {
        case .trust, .distrust:
            let peers = try await Self.expectSuccess(["peers"], at: image, comment)
            #expect(peers.stdout.hasPrefix("phone") == (command == .trust), comment)
            #expect(!peers.stdout.contains("watch"), comment)
        case .identity:
            #expect(try await Self.expectSuccess(["identity"], at: image, comment).stdout == outcome.stdout, comment)
        case .rollback:
            #expect(ShipmentSample.current(of: inbox) == 1, comment)
            sample.expect(inbox, serves: 1, comment)
            let list = try await Self.expectSuccess(["list", "--into", "inbox", "--json"], at: image, comment)
            #expect(list.stdout.contains("onHoldSince"), comment)
        case .release:
            let list = try await Self.expectSuccess(["list", "--into", "inbox", "--json"], at: image, comment)
            #expect(!list.stdout.contains("onHoldSince"), comment)
        case .allowAgain:
            let shipment = sample.shipments[1].string
            try await Self.expectSuccess(
                ["receive", "--into", "inbox", "--from", shipment, "--unsigned"], at: image, comment)
        case .forget: #expect(!paths(in: inbox).contains { $0.hasSuffix("Recipes.sqlite") }, comment)
        case .prune:
            #expect(paths(in: inbox).count { $0.hasSuffix("/Recipes.sqlite") } == 1, comment)
            sample.expect(inbox, serves: 2, comment)
        case .removeBases:
            let memory = image.appending("state/ship-store/bases")
            // An index that was being written is no copy.
            let left = paths(in: memory).filter { $0.hasPrefix("objects/") || $0.hasSuffix(".sqlite") }
            #expect(left == [], comment)
        case .addBase:
            let memory = image.appending("state/ship-store/bases/objects")
            let base = try FolderListing.sha256(of: image.appending("Recipes.base.sqlite"))
            let listed = try await Self.expectSuccess(["bases", "--json"], at: image, comment)
            #expect(listed.stdout.contains("\"isPinned\":true"), comment)
            #expect(
                try paths(in: memory).contains { try FolderListing.sha256(of: memory.appending($0)) == base }, comment)
        }
    }
}
