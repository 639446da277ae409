import Foundation
import ShipStore
import StoreFiles
import StoreInbox
import StoreInstall
import SystemPackage
import TestSupport
import Testing

/// Two shipments of one store with external files, as files, and an inbox that holds the first: what each test begins with.
final class ShipmentSample: Sendable {
    let scratch: ScratchFolder
    let source: FilePath
    let shipments: [FilePath]
    /// Holds the first shipment, as generation 1.
    let template: FilePath
    private let contents: [StoreContent]
    private let photos: [[String: Data]]

    init(in scratch: ScratchFolder) async throws {
        self.scratch = scratch
        source = try scratch.folder("phone").appending("Recipes.sqlite")
        template = scratch.path.appending("template")
        let store = try CoreDataSample(at: source)
        var (shipments, contents, photos): ([FilePath], [StoreContent], [[String: Data]]) = ([], [], [])
        var added: [String: Data] = [:]
        for number in 1...2 {
            let photo = Data(repeating: UInt8(number), count: 3000)
            added[try store.addPhoto(key: number, content: photo)] = photo
            let shipment = scratch.path.appending("\(number).shipment")
            try await BuiltProgram.expectSuccess(["send", source.string, "--to", shipment.string])
            shipments.append(shipment)
            contents.append(try StoreContent(of: source))
            photos.append(added)
        }
        (self.shipments, self.contents, self.photos) = (shipments, contents, photos)
        try await BuiltProgram.expectSuccess(["receive", "--into", template.string, "--from", shipments[0].string])
    }

    /// Looks at an inbox as its users do: through the public links.
    ///
    /// - Parameter number: Which shipment it has to serve; 0 for none.
    func expect(
        _ inbox: FilePath, serves number: Int, _ comment: Comment, location: SourceLocation = #_sourceLocation
    ) {
        let store = inbox.appending("Recipes.sqlite")
        guard number > 0 else {
            #expect((try? PlatformCalls.statusFollowingLinks(of: store)) == nil, comment, sourceLocation: location)
            return
        }
        let content = try? StoreContent(of: store)
        #expect(content == contents[number - 1], comment, sourceLocation: location)
        for (name, photo) in photos[number - 1] {
            let file = inbox.appending(".Recipes_SUPPORT/_EXTERNAL_DATA").appending(name)
            #expect(FileManager.default.contents(atPath: file.string) == photo, comment, sourceLocation: location)
        }
    }

    /// Which shipment `current` leads to; 0 if there is no such link.
    static func current(of inbox: FilePath) -> Int {
        guard let name = StoreName("Recipes") else { return 0 }
        return (try? Inbox(at: inbox).current(of: name))??.number ?? 0
    }

    /// Everything in an inbox that is not a part of a generation: nothing may be left there but the word of what was current
    /// a moment ago.
    ///
    /// - Parameter generations: Those that may be there; the last of them is.
    static func expectTidy(
        _ inbox: FilePath, generations: ClosedRange<Int>, _ comment: Comment,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let depot = inbox.appending(".ship-store")
        let store = depot.appending("Recipes")
        #expect(
            try Folder.names(in: inbox) == [".Recipes_SUPPORT", ".ship-store", "Recipes.sqlite"], comment,
            sourceLocation: location)
        // What failed is noted.
        let names = try Folder.names(in: depot).filter { $0 != ".failed" }
        #expect(names == [".format", ".lock", "Recipes"], comment, sourceLocation: location)
        #expect(
            try Set(Folder.names(in: store)).subtracting(["left.json"]) == ["current", "generations", "staging"],
            comment,
            sourceLocation: location)
        #expect(try Folder.names(in: store.appending("staging")) == [], comment, sourceLocation: location)
        let kept = try Folder.names(in: store.appending("generations")).compactMap { name in
            name.split(separator: "-").first.flatMap { Int($0) }
        }
        #expect(kept.allSatisfy(generations.contains), comment, sourceLocation: location)
        #expect(kept.contains(generations.upperBound), comment, sourceLocation: location)
    }
}
