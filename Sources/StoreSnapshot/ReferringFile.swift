package import GRDB
package import ShipProtocol
package import SystemPackage

/// Which of the external files beside a file its rows refer to, if it is a store.
package enum ReferringFile: Hashable, Sendable {
    /// A text, a shipment, or an empty file: it has no rows.
    case noStore
    /// The files to which its rows refer, whether Core Data made it or not.
    case store(Set<ExternalFileName>, isCoreData: Bool)
    /// It may be a store, and its rows cannot be read: it is damaged, encrypted, locked or forbidden.
    case unreadable

    /// How many bytes are read to tell a text from a store.
    private static let sampleSize = 4096

    /// Reads one committed state of it, as any reader does. The file does not change.
    ///
    /// - Parameter busyTimeout: How long to wait for a connection that keeps all others out.
    /// - Throws: An error of the system, which proves nothing: `SnapshotError.isOfSystem`.
    package init(at path: FilePath, busyTimeout: Duration) async throws(SnapshotError) {
        do throws(SnapshotError) {
            self = try await SourceStore(at: path, busyTimeout: busyTimeout).references()
        } catch {
            guard !error.isOfSystem else { throw error }
            // A log beside it may have rows.
            if case .logOfNothing = error {
                self = .unreadable
            } else {
                self = try Self.isNoStore(path) ? .noStore : .unreadable
            }
        }
    }

    /// Reads a file that is a store: if it cannot be read, it has rows all the same.
    ///
    /// - Parameter held: A connection that keeps all others out of the store; `nil` to read it beside others.
    /// - Throws: An error of the system, which proves nothing.
    package init(
        ofStore store: FilePath, busyTimeout: Duration, through held: DatabaseQueue? = nil
    ) async throws(SnapshotError) {
        do throws(SnapshotError) {
            self = try await SourceStore(at: store, busyTimeout: busyTimeout, through: held).references()
        } catch {
            guard !error.isOfSystem else { throw error }
            self = .unreadable
        }
    }

    /// A file is no store only if it proves to be something else: the header of a store may be damaged, or encrypted.
    private static func isNoStore(_ path: FilePath) throws(SnapshotError) -> Bool {
        let bytes: [UInt8]
        do throws(SnapshotError) {
            bytes = try StoreHandle(path).start(upTo: sampleSize)
        } catch {
            guard !error.isOfSystem else { throw error }
            return false
        }
        return (try? Preamble(decoding: Array(bytes.prefix(Preamble.size)))) != nil || isText(bytes)
    }

    /// Whether the bytes are UTF-8 without NUL. The last character may be incomplete.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        guard !bytes.contains(0) else { return false }
        return (0...3).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
    }
}
