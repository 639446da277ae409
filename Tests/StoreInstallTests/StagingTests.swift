import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

@Suite struct StagingTests {
    private let inbox: InboxContent

    init() throws { inbox = try InboxContent() }

    /// No fsync(2) has failed there that a second one could hide.
    @Test(.enabled(if: PlatformCalls.effectiveUser != 0, "root may read every folder"))
    func `a folder in one that may be entered and not read is there at the second try`() throws {
        let parent = inbox.scratch.path.appending("parent")
        try Folder.make(parent)
        try PlatformCalls.changeMode(of: parent, to: [.ownerWrite, .ownerExecute])
        #expect(throws: FileError.self) { try Folder.make(parent.appending("child")) }
        try Folder.make(parent.appending("child"))
        try PlatformCalls.changeMode(of: parent, to: .ownerReadWriteExecute)
        #expect(try Folder.names(in: parent) == ["child"])
    }

    @Test func `a staging goes with its owner`() throws {
        let installer = try inbox.installer()
        do {
            let staged = try Shipment("store", files: [1: "one"]).stage(with: installer)
            #expect(inbox.staging.count == 1)
            _ = staged.bytesToCome
        }
        #expect(inbox.staging == [])
    }

    @Test(.enabled(if: PlatformCalls.effectiveUser == 0, "only root mounts a disk"))
    func `a shipment that is only announced leaves the room to others, and one that is written keeps to it`()
        async throws
    {
        guard await SmallDisk.isAvailable() else { return }
        try await SmallDisk.with(size: "200m") { disk in
            let installer = try Installer(
                inbox: Inbox(at: disk.appending("inbox")), keeping: Retention(count: 1, grace: .zero), in: SpaceLedger()
            )
            func stage(_ name: String, _ megabytes: Int) throws -> StagedGeneration {
                let made = try Shipment("store", name: name).manifest
                let size = Int64(megabytes) << 20
                let store = StoreFacts(
                    size: size, sha256: made.store.sha256, pageSize: 512, pageCount: size / 512, textEncoding: .utf8,
                    applicationID: 0, userVersion: 0, schemaSHA256: made.store.sha256)
                let manifest = Manifest(
                    name: made.name, createdAt: made.createdAt, producer: made.producer, store: store)
                return try installer.stage(manifest, present: [:])
            }
            let megabyte = [UInt8](repeating: 7, count: 1 << 20)
            let (claimed, other) = (try stage("Claimed", 190), try stage("Other", 130))
            #expect(throws: InboxError.self) { try stage("Huge", 1 << 20) }
            for _ in 0..<130 { try other.append(megabyte, toPart: 0) }
            #expect(throws: InboxError.self) {
                for _ in 0..<190 { try claimed.append(megabyte, toPart: 0) }
            }
        }
    }

    @Test(arguments: [
        Shipment.pages("stoRe"), Shipment.pages("store").dropLast(), Shipment.pages("store") + [0], [],
    ])
    func `bytes that are not the manifest's are not sealed`(bytes: [UInt8]) throws {
        let installer = try inbox.installer()
        let shipment = try Shipment("store")
        do {
            let staged = try installer.stage(shipment.manifest, present: [:])
            try staged.append(bytes, toPart: 0)
            let path = staged.storePath
            do throws(InboxError) {
                _ = try staged.seal()
                Issue.record("sealed")
            } catch {
                #expect(error == .mismatch(path))
            }
        }
        #expect(inbox.staging == [])
    }

    @Test func `what is compared is what is on the medium`() throws {
        let installer = try inbox.installer()
        let staged = try Shipment("store", files: [1: "one"]).stage(with: installer)
        let file = staged.path.appending("\(InboxContent.supportFolder)/\(try Shipment.fileName(1).uuid)")
        try Data("eno".utf8).write(to: URL(fileURLWithPath: file.string))
        do throws(InboxError) {
            _ = try staged.seal()
            Issue.record("sealed")
        } catch {
            guard case .mismatch(let path) = error else { throw error }
            #expect(path.lastComponent == file.lastComponent)
        }
    }

    @Test func `a part that never came is no empty file`() throws {
        let installer = try inbox.installer()
        let shipment = try Shipment("store", files: [1: "one"])
        let staged = try installer.stage(shipment.manifest, present: [:])
        try staged.append(shipment.parts[0], toPart: 0)
        do throws(InboxError) {
            _ = try staged.seal()
            Issue.record("sealed")
        } catch {
            guard case .file(let error) = error else { throw error }
            #expect(error.errno == .noSuchFileOrDirectory)
        }
    }

    @Test func `a part cannot be gone back to`() throws {
        let installer = try inbox.installer()
        let staged = try installer.stage(try Shipment("store", files: [1: "one"]).manifest, present: [:])
        try staged.append(Array("st".utf8), toPart: 0)
        try staged.append(Array("one".utf8), toPart: 1)
        do throws(InboxError) {
            try staged.append(Array("ore".utf8), toPart: 0)
            Issue.record("appended")
        } catch {
            guard case .file(let error) = error else { throw error }
            #expect(error.errno == .fileExists)
        }
    }

    @Test func `a generation that is changed later is found out`() async throws {
        let generation = try await Shipment("store", files: [1: "one"]).install(with: try inbox.installer())
        try generation.compareWithManifest()
        let path = generation.path(ofPart: 1)
        try PlatformCalls.changeMode(of: path, to: .ownerReadWrite)
        try Data("eno".utf8).write(to: URL(fileURLWithPath: path.string))
        #expect(throws: InboxError.mismatch(path)) { try generation.compareWithManifest() }
    }

    @Test func `the same shipment is not staged again`() async throws {
        let installer = try inbox.installer()
        let first = try await Shipment("store", files: [1: "one"]).install(with: installer)
        let again = try Shipment("store", files: [1: "one"]).manifest
        #expect(try installer.plan(for: again) == .unchanged(first))
        for other in [
            try Shipment("store", files: [1: "two"]), try Shipment("store"),
            try Shipment("store", files: [1: "one"], metadata: ["a": "b"]),
        ] {
            guard case .stage = try installer.plan(for: other.manifest) else {
                Issue.record("unchanged: \(other.manifest)")
                continue
            }
        }
    }

    @Test func `the same shipment is staged again if a file of it is gone or cut`() async throws {
        for cut in [0, 2] {
            let inbox = try InboxContent()
            let installer = try inbox.installer()
            let shipment = try Shipment("store", files: [1: "one"])
            let path = try await shipment.install(with: installer).path(ofPart: 1)
            try PlatformCalls.removeFile(path)
            if cut > 0 { try OpenFile.creating(path).write(Array("one".utf8.prefix(cut))) }
            #expect(
                try installer.plan(for: shipment.manifest)
                    == .stage(present: [0: path.removingLastComponent(3).appending("Recipes.sqlite")]))
            try await shipment.install(with: installer)
            #expect(inbox.text("\(InboxContent.supportFolder)/\(try Shipment.fileName(1).uuid)") == "one")
        }
    }

    @Test func `parts that are here already become second names of the same files`() async throws {
        let installer = try inbox.installer()
        let first = try await Shipment("first", files: [1: "one", 2: "two", 3: ""]).install(with: installer)
        // The same bytes under another name count too.
        let shipment = try Shipment("second", files: [1: "one", 2: "three", 4: "two", 5: ""])
        let plan = try installer.plan(for: shipment.manifest)
        #expect(plan == .stage(present: [1: first.path(ofPart: 1), 3: first.path(ofPart: 2)]))
        let second = try await shipment.install(with: installer)
        func inode(_ generation: Generation, _ part: Int) throws -> UInt64 {
            try PlatformCalls.status(of: generation.path(ofPart: part)).inode
        }
        #expect(try inode(first, 1) == inode(second, 1))
        #expect(try inode(first, 2) == inode(second, 3))
        #expect(try inode(first, 0) != inode(second, 0))
        #expect(try PlatformCalls.status(of: second.path(ofPart: 1)).links == 2)
        try second.compareWithManifest()
    }

    @Test func `a part that was here and rots meanwhile is not sealed`() async throws {
        let installer = try inbox.installer()
        let first = try await Shipment("first", files: [1: "one"]).install(with: installer)
        let path = first.path(ofPart: 1)
        try PlatformCalls.changeMode(of: path, to: .ownerReadWrite)
        try Data("eno".utf8).write(to: URL(fileURLWithPath: path.string))
        await #expect(throws: InboxError.self) {
            try await Shipment("second", files: [1: "one"]).install(with: installer)
        }
        #expect(inbox.numbers == [1])
        #expect(inbox.staging == [])
    }

    @Test(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
    func `what the disk cannot hold is refused before it comes`() async throws {
        try await SmallDisk.with(size: "3m") { disk in
            let installer = try Installer(inbox: Inbox(at: disk.appending("inbox")), keeping: Retention(count: 3))
            let large = try Shipment(String(repeating: "x", count: 4_000_000))
            let error = #expect(throws: InboxError.self) {
                try installer.stage(large.manifest, present: [:]).bytesToCome
            }
            guard case .noSpace(let needed, let free) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(needed > 4_000_000 && free < 3_200_000)
            #expect(error?.isOutOfSpace == true)
            try await Shipment("small").install(with: installer)
        }
    }

    /// What a hostile manifest may announce must not overflow.
    @Test func `sizes that add up to more than there is room in the world are refused`() throws {
        let installer = try inbox.installer()
        let shipment = try Shipment("store")
        let digest = shipment.manifest.store.sha256
        let files = try (0..<100).map { ExternalFile(name: try Shipment.fileName($0), size: .max, sha256: digest) }
        let manifest = Manifest(
            name: shipment.manifest.name, createdAt: shipment.manifest.createdAt, producer: shipment.manifest.producer,
            store: shipment.manifest.store, externalFiles: files)
        let error = #expect(throws: InboxError.self) { try installer.stage(manifest, present: [:]).storePath }
        #expect(error?.isOutOfSpace == true)
    }
}

extension FilePath {
    fileprivate func removingLastComponent(_ count: Int) -> FilePath {
        (0..<count).reduce(self) { path, _ in path.removingLastComponent() }
    }
}
