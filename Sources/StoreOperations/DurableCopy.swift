import StoreFiles
import SystemPackage

/// A copy of a file that has reached the medium.
enum DurableCopy {
    /// Bytes copied at a time.
    private static let pieceSize = 1024 * 1024

    static func make(of source: FilePath, at target: FilePath) throws(FileError) {
        let input = try OpenFile.readingWithoutFollowing(source)
        let output = try OpenFile.creating(target)
        var offset: Int64 = 0
        while true {
            let piece = try input.read(pieceSize, at: offset)
            guard !piece.isEmpty else { break }
            try output.write(piece)
            offset += Int64(piece.count)
        }
        try output.sync()
    }
}
