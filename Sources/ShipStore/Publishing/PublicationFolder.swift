import EssentialFoundation
import ShipProtocol
import StoreFiles
import SystemPackage

/// A publication in a folder, which any web server may serve.
///
///     DIR/head
///     DIR/objects/SHA-256
///
/// Source: `Protocol/PUBLISHED.md` section 1.
package struct PublicationFolder: PublicationStorage {
    private let path: FilePath

    package init(at path: FilePath) { self.path = path }

    /// Whether a folder is that of a publication, or of its objects, and no inbox yet.
    static func isThere(around path: FilePath) -> Bool {
        let path = PlatformCalls.realPlace(of: path)
        let isOfObjects = path.lastComponent?.string == PublicationFolder(at: "").objectsPath.string
        let place = PublicationFolder(at: isOfObjects ? Folder.parent(of: path) : path)
        return (try? PlatformCalls.status(of: place.headPath))?.kind == .file
            && (try? PlatformCalls.status(of: place.objectsPath))?.kind == .folder
            && (try? PlatformCalls.isThere(path.appending(FilePath.depot))) == false
    }

    private var headPath: FilePath { path.appending("head") }
    private var objectsPath: FilePath { path.appending("objects") }

    private func objectPath(_ digest: ContentDigest) -> FilePath { objectsPath.appending(digest.hex) }

    private var place: Endpoint { .folder(path) }

    package var isLocal: Bool { true }

    /// How long to wait for another program that is just writing a head.
    private static let patience = Duration.seconds(10)

    // MARK: Reading

    package func head(unlike tag: String?, fresh isFresh: Bool) async throws -> FetchedHead {
        guard let head = try head() else { return .none }
        return head.tag == tag ? .unchanged : .head(head.bytes, tag: head.tag)
    }

    private func head() throws(FileError) -> (bytes: [UInt8], tag: String)? {
        try FileError.unless([.noSuchFileOrDirectory, .notDirectory]) { () throws(FileError) in
            let bytes = try file(at: headPath).read(Limits.headSize + 1, at: 0)
            return (bytes, Self.tag(bytes))
        }
    }

    private static func tag(_ head: [UInt8]) -> String { ContentDigest(hashing: head).hex }

    /// Whoever serves the folder may read what is in it; a link, a pipe or a device is nothing that was published.
    private func file(at path: FilePath) throws(FileError) -> OpenFile {
        let flaw = FileError(.open, path, .invalidArgument)
        // To open a pipe would wait for who writes to it.
        guard try PlatformCalls.status(of: path).kind == .file else { throw flaw }
        let file = try OpenFile.readingWithoutFollowing(path)
        guard try file.status.kind == .file else { throw flaw }
        return file
    }

    package func object(
        _ digest: ContentDigest, from offset: Int64, upTo limit: Int64, _ take: (Int64, [UInt8]) throws -> Void
    ) async throws {
        let found = try FileError.unless([.noSuchFileOrDirectory]) { () throws(FileError) in
            try file(at: objectPath(digest))
        }
        guard let file = found else { throw PublicationError.objectGone(place, digest) }
        try file.forEachPiece(from: offset, upTo: limit, take)
    }

    // MARK: Writing

    package func put(_ object: PublishedObject, from file: FilePath, as name: ContentDigest) async throws {
        let source = try OpenFile.readingWithoutFollowing(file)
        try write(at: objectPath(name)) { (target) throws(FileError) in
            try source.copyContent(to: target)
            guard try target.size == object.size else { throw FileError(.read, file, .invalidArgument) }
        }
    }

    package func replaceHead(tagged tag: String?, with head: [UInt8]) async throws -> String? {
        try makeFolders()
        let lock = try await lock()
        defer { withExtendedLifetime(lock) {} }
        guard try self.head()?.tag == tag else { return nil }
        // A web server tells heads apart by their length and the second of their change, as nginx does.
        let before = try? PlatformCalls.status(of: headPath).modified
        try write(at: headPath) { (target) throws(FileError) in
            try target.write(head)
            if let before { try target.setModified(after: before) }
        }
        return Self.tag(head)
    }

    private func lock() async throws -> FolderLock {
        let end = ContinuousClock.now + Self.patience
        while true {
            if let lock = try FolderLock.take(.exclusive, on: path) { return lock }
            guard .now < end else { throw PublicationError.contended(place) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Makes the folders, as open as the one that they are in: a web server reads them.
    private func makeFolders() throws(FileError) {
        var above = path
        while (try? PlatformCalls.statusFollowingLinks(of: above)) == nil, above.lastComponent != nil {
            above = above.removingLastComponent()
        }
        let attributes = try? FileAttributes(of: above.isEmpty ? "." : above)
        try Folder.make(objectsPath, with: attributes)
    }

    /// Writes a file in one step, durably.
    private func write(at path: FilePath, _ body: (borrowing OpenFile) throws(FileError) -> Void) throws(FileError) {
        try makeFolders()
        let place = try TemporaryFolder(in: self.path, .besideResults)
        let aside = place.path.appending("new")
        let file = try OpenFile.creating(aside)
        try body(file)
        let readers = try PlatformCalls.status(of: self.path).permissions.intersection([.groupRead, .otherRead])
        try file.changeMode(to: readers.union(.ownerReadWrite))
        try file.sync()
        try PlatformCalls.rename(aside, to: path)
        try Folder.sync(path.removingLastComponent())
    }

    package func objects() async throws -> [(name: ContentDigest, written: Timestamp)] {
        let names = try FileError.unless([.noSuchFileOrDirectory]) { () throws(FileError) in
            try Folder.names(in: objectsPath)
        }
        return (names ?? []).compactMap { name in
            ContentDigest(hex: name).flatMap { digest in written(digest).map { (digest, $0) } }
        }
    }

    /// When an object was written; `nil` if there is none.
    private func written(_ digest: ContentDigest) -> Timestamp? {
        guard let status = try? PlatformCalls.status(of: objectPath(digest)), status.kind == .file else { return nil }
        return Timestamp(Date(timeIntervalSince1970: status.modified / .seconds(1)))
    }

    package func remove(_ name: ContentDigest, writtenBefore time: Timestamp) async throws -> Bool {
        guard let written = written(name), written < time else { return false }
        return try FileError.isDone(unless: [.noSuchFileOrDirectory]) { () throws(FileError) in
            try PlatformCalls.removeFile(objectPath(name))
        }
    }
}
