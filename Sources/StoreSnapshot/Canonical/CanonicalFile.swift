import StoreFiles
import StoreFormat
import SystemPackage

/// The step from what `VACUUM INTO` left to the canonical copy.
///
/// Source: `Protocol/CANONICAL.md`.
enum CanonicalFile {
    /// - Parameters:
    ///   - copy: Is removed once its canonical form is there.
    ///   - target: A file that is not there yet; nothing is there if the copy has no canonical form.
    /// - Returns: Why it has none, if so.
    /// - Throws: `.cancelled`, `.noSpace`, `.file`.
    static func make(
        of copy: FilePath, as target: FilePath, _ interruption: Interruption
    ) throws(SnapshotError) -> StoreFlaw? {
        do {
            let source = try PageFile(reading: copy) { try interruption.check() }
            let written = try PageFile(creating: target, pageSize: source.pageSize)
            try CanonicalForm.write(of: source, to: written)
            try written.flush()
            try PlatformCalls.removeFile(copy)
            return nil
        } catch {
            try? PlatformCalls.removeFile(target)
            switch error {
            case let flaw as StoreFlaw: return flaw
            case let error as SnapshotError: throw error
            case let error as FileError:
                throw SnapshotError(writing: error, needed: (try? PlatformCalls.status(of: copy).size) ?? 0)
            default: throw .file(FileError(.write, target, .ioError))
            }
        }
    }
}
