package import ShipProtocol
import StoreFiles
package import SystemPackage

/// What a file may want of the external files beside it: its rows refer to some, or it is no store at all.
package enum ReferringFile: Hashable, Sendable {
    /// A text, a shipment, or nothing: no row of it refers to anything.
    case noStore
    /// The files that its rows refer to, whoever made it.
    case store(Set<ExternalFileName>, isCoreData: Bool)
    /// It may be a store, and what its rows refer to cannot be found out: it is damaged, encrypted, locked or forbidden.
    case unreadable

    /// Bytes that tell a text from a store.
    private static let lookedAt = 4096

    /// Looks at one committed state of it, as any reader; nothing about it changes.
    ///
    /// - Parameter busyTimeout: How long to wait for a connection that keeps everybody out.
    package init(at path: FilePath, busyTimeout: Duration) async {
        do throws(SnapshotError) {
            self = try await SourceStore(at: path, busyTimeout: busyTimeout).references()
        } catch {
            self = Self.isNoStore(path) ? .noStore : .unreadable
        }
    }

    /// Only what is proven to be something else is no store: a header may be damaged, or encrypted.
    private static func isNoStore(_ path: FilePath) -> Bool {
        guard let handle = try? StoreHandle(path, for: .reading), let bytes = try? handle.start(upTo: lookedAt) else {
            return false
        }
        return (try? Preamble(decoding: Array(bytes.prefix(Preamble.size)))) != nil || isText(bytes)
    }

    /// UTF-8 without NUL, but for a character that the end may have cut.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        guard !bytes.contains(0) else { return false }
        return (0...3).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
    }
}

extension SourceStore {
    /// Everything that looks like a reference to an external file, whether Core Data made the store or not.
    package func references() async throws(SnapshotError) -> ReferringFile {
        try await look { database in
            let isCoreData = try CoreDataStore(database) != nil
            return .store(Set(try ExternalReferences.all(in: database).map(\.name)), isCoreData: isCoreData)
        }
    }
}
