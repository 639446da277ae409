import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// One receiver owns an inbox: flock(2) on `.ship-store/.lock`, which the kernel frees when the owner dies, however it
/// dies.
struct InboxLock: ~Copyable, Sendable {
    private let file: OpenFile

    /// - Throws: `.inboxInUse`, `.file`.
    init(_ layout: InboxLayout) throws(InboxError) {
        let file = try InboxError.wrapping { () throws(FileError) in try OpenFile.lockFile(layout.lock) }
        let isFree = try InboxError.wrapping { () throws(FileError) in
            try PlatformCalls.tryLock(file.descriptor, layout.lock)
        }
        guard isFree else { throw .inboxInUse(layout.root, process: Self.owner(in: file)) }
        // Only to tell a second receiver who has it: nothing depends on it.
        try? file.descriptor.truncate(to: 0)
        try? file.write(Array("\(PlatformCalls.processID)\n".utf8))
        self.file = file
    }

    private static func owner(in file: borrowing OpenFile) -> Int32? {
        guard let bytes = try? file.read(16, at: 0) else { return nil }
        return Int32(String(decoding: bytes, as: UTF8.self).prefix { $0.isNumber })
    }
}

extension FileDescriptor {
    fileprivate func truncate(to size: Int64) throws { try resize(to: size) }
}
