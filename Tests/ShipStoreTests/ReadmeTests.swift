import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What README.md and the pages of `Documentation` tell a programmer to write.
@Suite struct ReadmeTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: Self.root.pushing(FilePath(path)).string, encoding: .utf8)
    }

    /// The Swift in these pages, block by block.
    private func samples() throws -> [String] {
        let pages = ["GUIDE", "APP", "BUNDLE", "RECEIVERS"].map { "Documentation/\($0).md" }
        return try (["README.md"] + pages).flatMap { page in
            try text(page).components(separatedBy: "\n```swift\n").dropFirst().compactMap {
                $0.components(separatedBy: "```\n").first
            }
        }
    }

    /// They are built with the tests, as another package would build them: without what is open to this package only.
    @Test func `the samples for programs are those that are compiled`() throws {
        let programs = try samples().filter { $0.hasPrefix("import ") }
        let samples = ["Glance", "Following", "Shipping", "Carrying", "Bundled", "Serving"]
        #expect(try programs == samples.map { try text("Tests/ReadmeSample/\($0).swift") })
        #expect(try text("Package.swift").contains(#"path: "Tests/ReadmeSample", packageAccess: false)"#))
    }

    @Test func `the samples of the article on publications are those that are compiled`() throws {
        let article = try text("Sources/ShipStore/ShipStore.docc/FollowAPublication.md")
        for sample in ["Publications", "Downloads"] {
            #expect(article.contains("```swift\n" + (try text("Tests/ReadmeSample/\(sample).swift")) + "```\n"))
        }
    }

    @Test func `the sample for a manifest is one`() async throws {
        let manifests = try samples().filter { !$0.hasPrefix("import ") }
        let sample = try #require(manifests.first)
        #expect(manifests.count == 1)
        let scratch = try ScratchFolder()
        let folder = try scratch.folder("kitchen")
        try OpenFile.creating(folder.appending("Package.swift")).write(
            Array(
                """
                // swift-tools-version: 6.2
                import PackageDescription
                let package = Package(name: "kitchen",
                \(sample))
                """.utf8))
        let program = try ChildProgram(
            "/usr/bin/env",
            // The package manager leaves a lock in the temporary folder.
            ["TMPDIR=\(scratch.path)", "swift", "package", "dump-package", "--package-path", folder.string])
        let outcome = try await program.wait(timeout: .seconds(120))
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        let ours = try text("Package.swift")
        #expect(ours.contains(#".library(name: "ShipStore""#) && ours.contains(#"name: "ship-store","#))
        // The same GRDB as ours: two would not go together.
        let line = try #require(sample.split(separator: "\n").first { $0.contains("GRDB.swift\", from") })
        #expect(ours.contains(line.trimmingCharacters(in: .whitespaces)))
    }
}
