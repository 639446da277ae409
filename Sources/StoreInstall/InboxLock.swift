import StoreFiles
import StoreInbox
import SystemPackage

/// One receiver owns an inbox: flock(2) on `.ship-store/.lock`, which the kernel frees when the owner dies, however it dies.
struct InboxLock: ~Copyable, Sendable {
    private let file: OpenFile
    private let path: FilePath

    /// A child that this process starts has the lock, too, until it runs its own program [flock(2), fork(2)]. Who has just let go of the inbox
    /// waits for that.
    private static let attempts = 20
    private static let pause = Duration.milliseconds(10)

    /// - Throws: `.inboxInUse`, `.file`.
    init(_ folder: InboxFolder) throws(InboxError) {
        let path = folder.layout.lock
        let file = try InboxError.wrapping { () throws(FileError) in try folder.files.lockFile(at: path) }
        let isFree = try InboxError.wrapping { () throws(FileError) in
            // It is written to below: nothing that has another name too.
            let status = try file.status
            guard status.kind == .file, status.links == 1 else { throw FileError(.lock, path, .invalidArgument) }
            var isFree = try PlatformCalls.tryLock(file.descriptor, path)
            var attempts = Self.attempts
            while !isFree, attempts > 0, Self.owner(in: file) == PlatformCalls.processID {
                PlatformCalls.waitForInput(from: [], atMost: Self.pause)
                isFree = try PlatformCalls.tryLock(file.descriptor, path)
                attempts -= 1
            }
            return isFree
        }
        guard isFree else { throw .inboxInUse(folder.layout.root, process: Self.owner(in: file)) }
        // Only to tell a second receiver who has it: nothing depends on it.
        try? file.truncate(to: 0)
        try? file.write(Array("\(PlatformCalls.processID)\n".utf8))
        self.file = file
        self.path = path
    }

    /// Whether its file, and most likely the inbox, has been removed since, or moved away.
    var isRemoved: Bool {
        do {
            return try PlatformCalls.statusIfThere(of: path)?.identity != file.status.identity
        } catch {
            return false
        }
    }

    private static func owner(in file: borrowing OpenFile) -> Int32? {
        guard let bytes = try? file.read(16, at: 0) else { return nil }
        return Int32(String(decoding: bytes, as: UTF8.self).prefix { $0.isNumber })
    }
}
