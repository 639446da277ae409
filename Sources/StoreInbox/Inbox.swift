public import ShipProtocol
public import SystemPackage

/// An inbox as every process may read it, its owner included.
public struct Inbox: Hashable, Sendable {
    package let layout: InboxLayout

    public init(at root: FilePath) { layout = InboxLayout(root: root) }

    /// The folder that `receive --into` names.
    public var root: FilePath { layout.root }

    /// Every store that has a folder, sorted by name.
    ///
    /// - Throws: `.noInbox`, `.file`.
    public func storeNames() throws(InboxError) -> [StoreName] {
        try open().storeNames()
    }

    /// - Throws: `.noInbox`, `.file`.
    package func open() throws(InboxError) -> InboxFolder { try InboxFolder(self) }

    /// All kept generations of a store, the oldest first.
    public func generations(of name: StoreName) throws(InboxError) -> [Generation] {
        let folder = try open()
        return try folder.generationNames(of: name).map { generation throws(InboxError) in
            try folder.generation(generation, of: name)
        }
    }

    /// Their folders, the oldest first, whatever is in them.
    package func generationPaths(of name: StoreName) throws(InboxError) -> [FilePath] {
        try open().generationNames(of: name).map { layout.generations(name).appending($0.text) }
    }

    /// The generation that is served, or `nil` if none has been installed yet.
    ///
    /// - Throws: `.file` or `.badManifest` if what `current` names is damaged.
    public func current(of name: StoreName) throws(InboxError) -> Generation? {
        try open().current(of: name)
    }
}
