import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreInstall
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// What the consumer of a vector holds before its session: `bytes held:`, `bytes base:`, `held-from:`.
struct HeldInVector {
    let manifest: Manifest
    /// Its store; `nil` if that cannot be read.
    private(set) var store: [UInt8]?
    /// The device that has sent it; `nil` if that is not known.
    let device: ContentDigest?

    static func all(of vector: ProtocolVector) throws -> [HeldInVector] {
        var devices = vector.all("held-from").map { ContentDigest(hex: $0) }[...]
        var all: [HeldInVector] = []
        for section in vector.sections {
            switch section.label {
            case "held":
                all.append(HeldInVector(manifest: try manifest(section.bytes), device: devices.popFirst() ?? nil))
            case "base": all[all.count - 1].store = section.bytes
            default: break
            }
        }
        return all
    }

    /// - Parameter content: Of a manifest.
    static func manifest(_ content: [UInt8]) throws -> Manifest {
        let circumstances = #""createdAt":"2026-11-20T00:00:00Z","producer":{"software":"s","sqlite":"3.40.1"},"#
        return try Manifest(decoding: Array("{".utf8) + Array(circumstances.utf8) + content.dropFirst())
    }

    /// Installs all of it. In place of a store that cannot be read there are zeros.
    static func install(_ vector: ProtocolVector, in inbox: Inbox) async throws {
        let all = try all(of: vector)
        guard !all.isEmpty else { return }
        let installer = try Installer(inbox: inbox, keeping: Retention(count: 3))
        var origins: [(Generation, ContentDigest)] = []
        for held in all {
            let staged = try installer.stage(held.manifest, present: [:])
            let digest = held.manifest.store.sha256
            try staged.append(try #require(held.store ?? stores[digest]), toPart: 0)
            for (index, part) in held.manifest.parts.enumerated().dropFirst() where part.size > 0 {
                try staged.append(try #require(ProtocolVector.contents[part.sha256]), toPart: index)
            }
            let generation = try await installer.install(try staged.seal()) { _ in }
            if let device = held.device { origins.append((generation, device)) }
            if held.store == nil {
                try Data(count: Int(held.manifest.store.size)).write(
                    to: URL(fileURLWithPath: generation.storePath.string), options: .atomic)
            }
        }
        for (generation, device) in origins {
            let file = try OpenFile.creating(generation.path.appending(InboxLayout.originFile))
            try file.write(Origin(producer: device, counter: 0).jsonBytes)
        }
    }

    /// All that any vector has as a base.
    private static let stores: [ContentDigest: [UInt8]] = {
        var found: [ContentDigest: [UInt8]] = [:]
        for vector in (try? ProtocolVector.all(.dialogue) + ProtocolVector.all(.stream)) ?? [] {
            for section in vector.sections where section.label == "base" {
                found[ContentDigest(hashing: section.bytes)] = section.bytes
            }
        }
        return found
    }()
}
