package import ShipProtocol
package import StoreFiles
import SystemPackage

/// How a reader in any process asks the receiver how old a copy is: it writes a random word to the file `asked` beside the generations, and
/// the receiver, which watches the file, asks the source. As long as a receiver can ask, it holds a lock on the file, flock(2), which the
/// kernel frees when the receiver dies, however it dies.
package struct Bell: ~Copyable, Sendable {
    private let file: OpenFile

    fileprivate static let wordSize = 8
    /// A reader holds the lock for an instant, to see whether it is free.
    private static let attempts = 50
    private static let pause = Duration.milliseconds(2)

    /// Hears from now on what readers ask.
    ///
    /// - Throws: `.wouldBlock` if another process hears it.
    package init(of name: StoreName, in folder: InboxFolder) throws(FileError) {
        let path = folder.layout.bell(name)
        let file = try folder.files.lockFile(at: path)
        var isTaken = try PlatformCalls.tryLock(file.descriptor, path)
        var attempts = Self.attempts
        while !isTaken, attempts > 0 {
            PlatformCalls.pause(Self.pause)
            isTaken = try PlatformCalls.tryLock(file.descriptor, path)
            attempts -= 1
        }
        guard isTaken else { throw FileError(.lock, path, .wouldBlock) }
        self.file = file
    }

    /// The word that was written last.
    package var word: [UInt8] { (try? file.read(Self.wordSize, at: 0)) ?? [] }
}

extension InboxFolder {
    /// Whether a receiver has a session with the source of a store, and can ask it.
    package func isHeard(_ name: StoreName) -> Bool {
        let path = layout.bell(name)
        guard let file = try? files.file(at: path) else { return false }
        return (try? PlatformCalls.tryLock(file.descriptor, path, .shared)) == false
    }

    /// Has the receiver ask the source.
    ///
    /// - Throws: If this process may not write to the inbox, or no receiver has ever heard.
    package func ring(_ name: StoreName) throws(FileError) {
        let word = (0..<Bell.wordSize).map { _ in UInt8.random(in: .min ... .max) }
        try files.file(at: layout.bell(name), .readWrite).write(word, at: 0)
    }
}
