import Foundation
import Testing

/// What `make fuzz` runs on, run once.
@Suite struct CorpusTests {
    private static let targets: [String: @Sendable ([UInt8]) -> Void] = [
        "deflate": DeflateTarget.run, "delta": DeltaTarget.run, "frames": FramesTarget.run, "lists": ListsTarget.run,
        "manifest": ManifestTarget.run,
        "names": NamesTarget.run, "pages": PagesTarget.run, "published": PublishedTarget.run,
        "segments": SegmentsTarget.run, "signature": SignatureTarget.run, "values": ValuesTarget.run,
    ]

    private static var corpus: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "corpus")
    }

    @Test func `each corpus has its target, and each target its corpus`() throws {
        let corpora = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
        let files = try FileManager.default.contentsOfDirectory(
            atPath: Self.corpus.deletingLastPathComponent().appending(path: "Targets").path)
        #expect(Set(corpora) == Set(Self.targets.keys))
        #expect(Set(files) == Set(Self.targets.keys.map { "\($0.capitalized)Target.swift" }))
    }

    @Test(arguments: targets.keys.sorted())
    func `a target comes to an end with each input of its corpus`(name: String) throws {
        let folder = Self.corpus.appending(path: name)
        let inputs = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!inputs.isEmpty)
        let run = try #require(Self.targets[name])
        for input in inputs { run([UInt8](try Data(contentsOf: folder.appending(path: input)))) }
    }
}
