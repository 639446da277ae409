import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct EntrySpillTests {
    /// The rest of a run of entries would be lost without a word.
    @Test func `entries that are not there are an error, and no end`() throws {
        let folder = try ScratchFolder()
        let spill = try EntrySpill(at: folder.path.appending("entries"))
        try spill.append([1, 2, 3])
        #expect(try spill.read(2, at: 1) == [2, 3])
        #expect(throws: FileError.self) { try spill.read(3, at: 1) }
    }
}
