import StoreFiles
import SystemPackage

/// A copy of a file that has reached the medium, if the task was not cancelled before.
enum DurableCopy {
    /// Bytes copied at a time.
    private static let pieceSize = 1024 * 1024

    /// - Parameter mode: Of the copy; `nil` for its owner to read and write.
    static func make(
        of source: FilePath, at target: FilePath, mode: FilePermissions? = nil
    ) throws(FileError) {
        let input = try OpenFile.readingWithoutFollowing(source)
        let output = try OpenFile.creating(target)
        var offset: Int64 = 0
        while true {
            if Task.isCancelled { throw FileError(.write, target, .canceled) }
            let piece = try input.read(pieceSize, at: offset)
            guard !piece.isEmpty else { break }
            try output.write(piece)
            offset += Int64(piece.count)
        }
        if let mode { try PlatformCalls.changeMode(of: target, to: mode) }
        try output.sync()
    }

    /// A second name for a file that its owner gives away, or a copy of it where that is not possible.
    static func take(_ source: FilePath, as target: FilePath, mode: FilePermissions) throws(FileError) {
        guard (try? PlatformCalls.hardLink(source, as: target)) != nil else {
            return try make(of: source, at: target, mode: mode)
        }
        try PlatformCalls.changeMode(of: target, to: mode)
        try OpenFile.readingWithoutFollowing(target).sync()
    }
}
