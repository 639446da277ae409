import StoreFiles
import SystemPackage

extension OpenFile {
    /// A file in which all that is written is gone, and nothing is to be read. Subprocess can open it too; but where that fails, the
    /// program dies.
    static func nowhere(_ mode: FileDescriptor.AccessMode) throws(FileError) -> OpenFile {
        let path: FilePath = "/dev/null"
        do {
            return owning(try FileDescriptor.open(path, mode, options: .closeOnExec), as: path)
        } catch {
            throw FileError(.open, path, error as? Errno ?? .ioError)
        }
    }
}
