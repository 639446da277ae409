import Foundation
import ShipProtocol
import ShipStore
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct TemporaryCopyTests {
    private let scratch: ScratchFolder
    private let temporary: FilePath
    private let sample: CoreDataSample

    init() throws {
        scratch = try ScratchFolder()
        temporary = try scratch.folder("temporary")
        sample = try CoreDataSample(at: try scratch.folder("phone").appending("Photos.sqlite"))
        try sample.addEverything()
    }

    private var options: CopyOptions {
        var options = CopyOptions()
        options.temporaryFolder = temporary
        return options
    }

    @Test func `it is a store with its external files, and goes when it is dropped`() async throws {
        try await look()
        #expect(try Folder.names(in: temporary) == [])
    }

    private func look() async throws {
        let copy = try await TemporaryCopy.take(of: sample.path, options: options)
        #expect(copy.path.lastComponent?.string.wholeMatch(of: /Photos-\d{8}T\d{6}\.sqlite/) != nil)
        #expect(try StoreContent(of: copy.path) == StoreContent(of: sample.path))
        #expect(try CoreDataSample.files(beside: copy.path) == CoreDataSample.files(beside: sample.path))
        #expect(copy.externalFiles.count == 2 && copy.manifest.externalFiles.count == 2)
        for (file, path) in zip(copy.manifest.externalFiles, copy.externalFiles) {
            #expect(try ContentDigest(ofFile: path) == file.sha256)
        }
        #expect(try Folder.names(in: temporary).count == 1)
    }

    @Test func `it goes when it is told to`() async throws {
        let copy = try await TemporaryCopy.take(of: sample.path, options: options)
        try copy.delete()
        #expect(try Folder.names(in: temporary) == [])
        try copy.delete()
    }

    @Test func `of several stores there are all copies or none`() async throws {
        let other = scratch.path.appending("phone/Notes.sqlite")
        try SampleStore.plain.make(at: other)
        let copies = try await TemporaryCopy.take(of: [sample.path, other], options: options)
        #expect(copies.map(\.manifest.name.text) == ["Photos", "Notes"])
        #expect(try Folder.names(in: temporary).count == 2)
        let missing = scratch.path.appending("none")
        await #expect(throws: ShipmentError.source(.noSuchFile(missing))) {
            _ = try await TemporaryCopy.take(of: [sample.path, missing], options: options)
        }
        #expect(try Folder.names(in: temporary).count == 2)
        try copies.forEach { try $0.delete() }
    }
}
