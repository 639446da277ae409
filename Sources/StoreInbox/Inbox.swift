public import ShipProtocol
import StoreFiles
public import SystemPackage

/// An inbox as anybody may read it, its owner included.
public struct Inbox: Hashable, Sendable {
    package let layout: InboxLayout

    public init(at root: FilePath) { layout = InboxLayout(root: root) }

    /// The folder that `receive --into` names.
    public var root: FilePath { layout.root }

    /// Every store that has a folder, sorted by name.
    ///
    /// - Throws: `.noInbox`, `.file`.
    public func storeNames() throws(InboxError) -> [StoreName] {
        do throws(FileError) {
            return try Folder.names(in: layout.depot).compactMap { StoreName($0) }.sorted()
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory: throw .noInbox(root)
            default: throw .file(error)
            }
        }
    }

    /// All kept generations of a store, the oldest first.
    public func generations(of name: StoreName) throws(InboxError) -> [Generation] {
        var found: [Generation] = []
        for path in try generationPaths(of: name) { found.append(try Generation(at: path)) }
        return found
    }

    /// Their folders, the oldest first, whatever is in them.
    package func generationPaths(of name: StoreName) throws(InboxError) -> [FilePath] {
        try generationNames(of: name).map { layout.generations(name).appending($0.text) }
    }

    /// The generation that is served, or `nil` if none has been installed yet.
    ///
    /// - Throws: `.file` or `.badManifest` if what `current` names is damaged.
    public func current(of name: StoreName) throws(InboxError) -> Generation? {
        guard let generation = currentName(of: name) else { return nil }
        return try Generation(at: layout.generations(name).appending(generation.text))
    }

    /// Whose shipments of a store are taken, and how far they have come; `nil` if nobody knows.
    ///
    /// - Throws: `.badOrigin`, `.file`.
    package func originRecord(of name: StoreName) throws(InboxError) -> OriginRecord? {
        let record = try OriginRecord.read(at: layout.originRecord(name))
        guard let current = currentName(of: name) else { return record }
        return try OriginRecord.after(current, at: layout.generations(name).appending(current.text), record)
    }

    /// What the link `current` says, if it says something of ours.
    package func currentName(of name: StoreName) -> GenerationName? {
        guard let target = try? PlatformCalls.targetOfSymbolicLink(at: layout.current(name)),
            target.components.count == 2, target.components.first?.string == "generations"
        else { return nil }
        return target.lastComponent.flatMap { GenerationName($0.string) }
    }

    /// The names of the kept generations, the oldest first.
    package func generationNames(of name: StoreName) throws(InboxError) -> [GenerationName] {
        try InboxError.wrapping { () throws(FileError) in
            do throws(FileError) {
                return try Folder.names(in: layout.generations(name)).compactMap { GenerationName($0) }
                    .sorted { $0.number < $1.number }
            } catch {
                if error.errno == .noSuchFileOrDirectory { return [] }
                throw error
            }
        }
    }
}
