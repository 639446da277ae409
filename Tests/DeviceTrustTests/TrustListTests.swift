import DeviceTrust
import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct `The list of trusted devices` {
    private let now = Timestamp(Date(timeIntervalSince1970: 1_800_000_000))
    private func id(_ number: UInt8) -> DeviceIdentifier { DeviceIdentifier(ofCertificate: [number]) }
    private func name(_ text: String) throws -> PeerName { try #require(PeerName(text)) }
    private func store(_ text: String) throws -> StoreName { try #require(StoreName(text)) }

    @Test func `is empty without a file, and makes none by being read`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        #expect(try folder.trustList().isEmpty)
        #expect(try folder.distrust("watch") == nil)
        #expect(try Folder.names(in: scratch.path) == [])
    }

    @Test func `keeps what a device may do, and forgets it`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        var changes = TrustList.PeerChanges()
        changes.name = try name("Anna's watch")
        changes.roles = [.sender]
        changes.stores = .only([try store("Recipes")])
        let peer = try folder.trust(id(1), changes, at: now)
        #expect(peer.since == now)
        let other = try folder.trust(id(2), TrustList.PeerChanges(), at: now)
        #expect(other.roles == [.sender, .receiver] && other.stores == .all)
        #expect(other.name.text == "device-" + id(2).text.prefix(5))
        let list = try folder.trustList()
        #expect(list.peers == [peer, other])
        #expect(list.stores(of: id(1), as: .sender) == .only([try store("Recipes")]))
        #expect(list.stores(of: id(1), as: .receiver) == nil)
        #expect(list.stores(of: id(3), as: .sender) == nil)
        let file = folder.path.appending("peers.json")
        #expect(try PlatformCalls.status(of: file).permissions == .ownerReadWrite)
        #expect(try Folder.names(in: folder.path) == ["peers.json"])
        #expect(try folder.distrust("Anna's watch") == peer)
        #expect(try folder.distrust(id(2).text.lowercased()) == other)
        #expect(try folder.distrust("Anna's watch") == nil)
        #expect(try folder.trustList().isEmpty)
    }

    @Test func `is read whole while it is replaced again and again`() async throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        _ = try folder.trust(id(1), TrustList.PeerChanges(), at: now)
        let list = folder.path.appending("peers.json")
        let bytes = try OpenFile.reading(list).read(1 << 20, at: 0)
        try await withThrowingTaskGroup(of: Void.self) { group throws in
            group.addTask {
                while !Task.isCancelled {
                    let other = folder.path.appending("other")
                    try OpenFile.creating(other).write(bytes)
                    try PlatformCalls.rename(other, to: list)
                }
            }
            for _ in 0..<5000 { #expect(try folder.trustList().peers.count == 1) }
            group.cancelAll()
        }
    }

    @Test func `changes only what is said anew`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        var changes = TrustList.PeerChanges()
        changes.name = try name("watch")
        changes.roles = [.receiver]
        _ = try folder.trust(id(1), changes, at: now)
        var more = TrustList.PeerChanges()
        more.stores = .only([try store("Tea")])
        let later = Timestamp(now.date.addingTimeInterval(60))
        let changed = try folder.trust(id(1), more, at: later)
        #expect(changed.name.text == "watch" && changed.roles == [.receiver] && changed.since == now)
        #expect(try changed.stores == .only([store("Tea")]))
        #expect(throws: TrustListError.nameIsTaken(try name("watch"), by: id(1))) {
            try folder.trust(id(2), changes, at: now)
        }
    }

    @Test func `a new peer gets all stores, or those that are added, also if these are none`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        var changes = TrustList.PeerChanges()
        #expect(try folder.trust(id(1), changes, at: now).stores == .all)
        changes.addedStores = []
        #expect(try folder.trust(id(2), changes, at: now).stores == .only([]))
        changes.addedStores = [try store("Tea")]
        #expect(try folder.trust(id(2), changes, at: now).stores == .only([store("Tea")]))
    }

    @Test func `lets one device at a time take over a store`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        var changes = TrustList.PeerChanges()
        changes.takesOver = [try store("Recipes")]
        _ = try folder.trust(id(1), changes, at: now)
        _ = try folder.trust(id(2), changes, at: now)
        let list = try folder.trustList()
        #expect(list.peer(id(1))?.takesOver == [])
        #expect(list.peer(id(2))?.takesOver == changes.takesOver)
    }

    @Test func `does not hold this device itself`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        let own = try folder.identity().id
        #expect(throws: TrustListError.isThisDevice) { try folder.trust(own, TrustList.PeerChanges(), at: now) }
    }

    @Test func `loses nothing when many change it at once`() async throws {
        let scratch = try ScratchFolder.inMemory()
        let folder = scratch.path.appending("d")
        try await withThrowingTaskGroup { group in
            for number in UInt8(0)..<24 {
                group.addTask(executorPreference: TestThreads.shared) {
                    _ = try DeviceFolder(at: folder).trust(id(number), TrustList.PeerChanges(), at: now)
                }
            }
            try await group.waitForAll()
        }
        #expect(try DeviceFolder(at: folder).trustList().peers.count == 24)
        #expect(try Folder.names(in: folder) == ["peers.json"])
    }

    @Test func `is never longer than what is read of it`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        var changes = TrustList.PeerChanges()
        changes.stores = .only(
            Set((0..<3000).compactMap { StoreName("store\($0)" + String(repeating: "x", count: 110)) }))
        var trusted = 0
        for number in 1...4 {
            do {
                _ = try folder.trust(id(UInt8(number)), changes, at: now)
                trusted += 1
            } catch TrustListError.tooLong {
                break
            }
        }
        #expect((1...3).contains(trusted))
        #expect(try folder.trustList().peers.count == trusted)
        _ = try folder.distrust(id(1).text)
        #expect(try folder.trustList().peers.count == trusted - 1)
    }

    @Test func `is not disturbed by what a killed process has left`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        try PlatformCalls.makeFolder(folder.path)
        try OpenFile.creating(folder.path.appending(".new")).write([1, 2, 3])
        _ = try folder.trust(id(1), TrustList.PeerChanges(), at: now)
        _ = try folder.identity()
        #expect(try Folder.names(in: folder.path) == ["identity.pem", "peers.json"])
    }

    @Test(arguments: [
        "", "{", "[]", #"{"peers": []}"#, #"{"peers": [], "version": 0}"#,
        #"{"peers": [{"id": "x", "name": "a", "roles": [], "since": "2026-11-20T19:04:05Z"}], "version": 1}"#,
    ])
    func `lets nobody in when it makes no sense`(text: String) throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        try PlatformCalls.makeFolder(folder.path)
        let file = folder.path.appending("peers.json")
        try OpenFile.creating(file).write(Array(text.utf8))
        #expect(throws: IdentityError.damaged(file, flaw: "it is no list of trusted devices")) {
            try folder.trustList()
        }
        #expect(throws: IdentityError.self) { try folder.trust(id(1), TrustList.PeerChanges(), at: now) }
    }

    @Test func `has names that a terminal can show, each once`() throws {
        let blanks = ["\u{3164}", "a\u{115F}", "a\u{2800}b"]
        for bad in ["", " a", "a ", "a\nb", "\u{1B}[2J", "a\u{202E}b"] + blanks + [
            String(repeating: "a", count: 65), id(1).text,
        ] {
            #expect(PeerName(bad) == nil, "\(bad)")
        }
        // A variation selector has the heart in color.
        #expect(PeerName("Anna's \u{2764}\u{FE0F}") != nil)
        let watch = try name("watch")
        #expect(watch.avoiding([]) == watch)
        #expect(watch.avoiding([watch, try name("watch-2")]).text == "watch-3")
        let long = try name(String(repeating: "\u{E4}", count: 32))
        #expect(long.avoiding([long]).text == String(repeating: "\u{E4}", count: 31) + "-2")
    }
}
