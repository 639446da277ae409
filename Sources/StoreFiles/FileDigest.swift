import Crypto
package import ShipProtocol
package import SystemPackage

/// SHA-256 of files, read in pieces, until the work is not wanted any more.
package enum FileDigest {
    /// Bytes read at a time.
    private static let pieceSize = 256 * 1024

    /// Reads the whole file at `path` from its start.
    ///
    /// - Parameter isCancelled: Asked before each piece; of work that is no part of its task.
    /// - Throws: `.canceled` once that is so.
    package static func sha256(
        of path: FilePath, unless isCancelled: () -> Bool = { Task.isCancelled }
    ) throws(FileError) -> ContentDigest {
        try sha256(of: try OpenFile.readingWithoutFollowing(path), unless: isCancelled)
    }

    /// Reads the whole file from its start; the file's position stays.
    ///
    /// - Throws: `.canceled`, as above.
    package static func sha256(
        of file: borrowing OpenFile, unless isCancelled: () -> Bool = { Task.isCancelled }
    ) throws(FileError) -> ContentDigest {
        var hash = SHA256()
        var offset: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 4096)
        defer { buffer.deallocate() }
        while true {
            if isCancelled() { throw FileError(.read, file.path, .canceled) }
            let count: Int
            do {
                count = try file.descriptor.read(fromAbsoluteOffset: offset, into: buffer)
            } catch {
                throw FileError(.read, file.path, error as? Errno ?? .ioError)
            }
            guard count > 0 else { break }
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        return ContentDigest(hash.finalize())
    }
}

extension ContentDigest {
    fileprivate init(_ digest: SHA256.Digest) {
        self.init(sha256: Array(digest))
    }

    /// SHA-256 of bytes in memory.
    package init(hashing bytes: some Sequence<UInt8>) {
        self.init(SHA256.hash(data: Array(bytes)))
    }
}
