import Foundation
import SystemPackage
import TestSupport
import Testing

/// What the package says of its products.
@Suite struct `The product for apps` {
    private struct Dump: Decodable {
        struct Product: Decodable {
            let name: String
            let targets: [String]
        }

        struct Target: Decodable {
            struct Dependency: Decodable {
                /// A target of this package: its name, and a condition.
                let byName: [Name?]?
                /// A product of another: its name, and that of the package.
                let product: [Name?]?
            }

            let name: String
            let dependencies: [Dependency]
        }

        /// The first members; what follows is no text.
        struct Name: Decodable {
            let text: String?

            init(from decoder: any Decoder) throws {
                text = try? decoder.singleValueContainer().decode(String.self)
            }
        }

        let products: [Product]
        let targets: [Target]
    }

    private func dump() async throws -> Dump {
        let root = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
        // Whoever runs the tests has the package's own scratch folder.
        let scratch = try ScratchFolder()
        let program = try ChildProgram(
            "/usr/bin/env",
            // The package manager leaves a lock in the temporary folder.
            [
                "TMPDIR=\(scratch.path)", "swift", "package", "--package-path", root.string, "--scratch-path",
                scratch.path.string, "dump-package",
            ])
        let outcome = try await program.wait(timeout: .seconds(120))
        return try JSONDecoder().decode(Dump.self, from: Data(outcome.stdout.utf8))
    }

    /// The packages, and this package's own targets, that a product is made of.
    private func parts(of name: String, in dump: Dump) throws -> (packages: Set<String>, targets: Set<String>) {
        let targets = Dictionary(dump.targets.map { ($0.name, $0) }) { first, _ in first }
        var (packages, known) = (Set<String>(), Set<String>())
        var waiting = try #require(dump.products.first { $0.name == name }).targets
        while let next = waiting.popLast() {
            guard known.insert(next).inserted else { continue }
            for dependency in try #require(targets[next]).dependencies {
                if let target = dependency.byName?.first??.text { waiting.append(target) }
                if let package = dependency.product?.dropFirst().first??.text { packages.insert(package) }
            }
        }
        return (packages, known)
    }

    @Test func `needs no package of sockets, processes, event loops or arguments`() async throws {
        let dump = try await dump()
        let core = try parts(of: "ShipStore", in: dump)
        #expect(
            core.packages == ["GRDB.swift", "swift-asn1", "swift-certificates", "swift-crypto", "swift-system"])
        #expect(core.targets.contains("ShipLinks") && !core.targets.contains("ShipTransport"))
        #expect(try parts(of: "ShipStoreTransfers", in: dump).packages == core.packages)
        // So it can be seen that this test sees what there is to see.
        let network = try parts(of: "ShipStoreNetwork", in: dump)
        #expect(
            network.packages.subtracting(core.packages) == ["swift-nio", "swift-nio-ssl", "swift-subprocess"])
    }
}
