package import SystemPackage

/// Copies of files, and new ones, that have reached the medium when these calls return.
extension OpenFile {
    /// Bytes copied at a time.
    private static let pieceSize = 1024 * 1024

    /// - Parameters:
    ///   - mode: Of the copy; `nil` for its owner to read and write.
    ///   - attributes: Of the copy, in place of a mode alone.
    /// - Throws: `.canceled` with its task.
    package static func copy(
        _ source: FilePath, to target: FilePath, mode: FilePermissions? = nil, attributes: FileAttributes? = nil
    ) throws(FileError) {
        let input = try OpenFile.readingWithoutFollowing(source)
        let output = try OpenFile.creating(target)
        try input.copyContent(to: output)
        try output.finish(mode, attributes)
    }

    /// A new file with these bytes, and a mode or attributes as for a copy.
    package static func write(
        _ bytes: [UInt8], to target: FilePath, mode: FilePermissions? = nil, attributes: FileAttributes? = nil
    ) throws(FileError) {
        let file = try OpenFile.creating(target)
        try file.write(bytes)
        try file.finish(mode, attributes)
    }

    /// A second name for a file that its owner gives away, or a copy of it where that is not possible.
    package static func linkOrCopy(
        _ source: FilePath, to target: FilePath, mode: FilePermissions, attributes: FileAttributes? = nil
    ) throws(FileError) {
        guard (try? PlatformCalls.hardLink(source, as: target)) != nil else {
            return try copy(source, to: target, mode: mode, attributes: attributes)
        }
        try OpenFile.readingWithoutFollowing(target).finish(mode, attributes)
    }

    /// Appends all bytes of this file to another one, or the first `size` of them.
    ///
    /// - Throws: `.canceled` with its task.
    package func copyContent(to output: borrowing OpenFile, upTo size: Int64 = .max) throws(FileError) {
        var offset: Int64 = 0
        while offset < size {
            if Task.isCancelled { throw FileError(.write, output.path, .canceled) }
            let piece = try read(Int(min(Int64(Self.pieceSize), size - offset)), at: offset)
            guard !piece.isEmpty else { break }
            try output.write(piece)
            offset += Int64(piece.count)
        }
    }

    private func finish(_ mode: FilePermissions?, _ attributes: FileAttributes?) throws(FileError) {
        if let mode { try changeMode(to: mode) }
        try attributes?.give(to: self)
        try sync()
    }
}
