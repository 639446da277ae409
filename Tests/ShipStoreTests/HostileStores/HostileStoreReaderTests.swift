import ShipProtocol
import ShipStoreNetwork
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// The example of a reader, over every hostile store that is let in: one after the other, and each as the first that it sees.
@Suite struct `A reader of hostile stores` {
    private let folder: ScratchFolder
    private let inbox: FilePath

    init() throws {
        folder = try ScratchFolder()
        inbox = folder.path.appending("inbox")
    }

    /// One that takes any other store under the name, once.
    private func consumer() throws -> Consumer {
        var options = Consumer.Options()
        options.checking.limits.time = .seconds(20)
        options.replacing = [try #require(StoreName(HandmadeShipment.name))]
        return try Consumer(inbox: inbox, options: options)
    }

    private func reader() throws -> ChildProgram {
        try ChildProgram(try BuiltProgram.program("reader-example"), [inbox.string], in: folder.path)
    }

    /// - Returns: The number of its generation.
    private func receive(_ kind: HostileStore) async throws -> Int {
        let place = try folder.folder("made")
        defer { try? Folder.removeTree(at: place) }
        let receipts = try await consumer().receive(from: .file(kind.shipment(in: place).file))
        return try #require(receipts.first).generation
    }

    private static let harmless = HostileStore.all.filter { $0.end == .harmless }

    @Test func `survives each, and shows the good one that comes after it`() async throws {
        #expect(Self.harmless.count >= 10)
        let good = HostileStore.sql("a good store", .harmless, HostileStore.ordinary)
        let following = try reader()
        for kind in Self.harmless {
            let first = try await receive(kind)
            let fresh = try reader()
            for reader in [following, fresh] {
                _ = try await reader.waitForLine(
                    containing: "Recipes \(first)", on: .output, timeout: .seconds(20))
            }
            let second = try await receive(good)
            for reader in [following, fresh] {
                _ = try await reader.waitForLine(
                    containing: "Recipes \(second): t has 300 rows", on: .output, timeout: .seconds(20))
            }
            let printed = following.text(.output).unicodeScalars
            #expect(
                printed.allSatisfy { $0 == "\n" || $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }, "\(kind)")
            #expect(following.text(.error) == "" && fresh.text(.error) == "", "\(kind)")
        }
    }
}
