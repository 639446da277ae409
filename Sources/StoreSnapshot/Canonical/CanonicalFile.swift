import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

/// The step from what `VACUUM INTO` left to the canonical copy.
///
/// Source: `Protocol/CANONICAL.md`.
enum CanonicalFile {
    /// What becomes of a copy.
    enum Outcome {
        /// Its canonical form is there: what is in its tables, `nil` if that cannot be told of all of them.
        case made(tables: [ForeignText: TableContent]?)
        /// It has none, because of this.
        case impossible(StoreFlaw)
    }

    /// - Parameters:
    ///   - copy: Is removed once its canonical form is there.
    ///   - target: A file that is not there yet; nothing is there if the copy has no canonical form.
    /// - Throws: `.cancelled`, `.noSpace`, `.file`.
    static func make(
        of copy: FilePath, as target: FilePath, _ interruption: Interruption
    ) throws(SnapshotError) -> Outcome {
        do {
            let source = try PageFile(reading: copy) { try interruption.check() }
            let written = try PageFile(creating: target, pageSize: source.pageSize)
            let trees = try StoreTrees(source)
            var digests = TableDigests(textEncoding: trees.settings.textEncoding)
            try CanonicalForm.write(of: trees, to: written) { digests.take($0) }
            try written.flush()
            try PlatformCalls.removeFile(copy)
            return .made(tables: digests.told)
        } catch {
            try? PlatformCalls.removeFile(target)
            switch error {
            case let flaw as StoreFlaw: return .impossible(flaw)
            case let error as SnapshotError: throw error
            case let error as FileError:
                throw SnapshotError(writing: error, needed: (try? PlatformCalls.status(of: copy).size) ?? 0)
            default: throw .file(FileError(.write, target, .ioError))
            }
        }
    }
}
