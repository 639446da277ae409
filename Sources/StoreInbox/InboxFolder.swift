package import ShipProtocol
package import StoreFiles
import SystemPackage

/// An inbox that is open: what is read and written through this value lies in it, whatever becomes of its name, and
/// whatever links are put into it or in its way.
package final class InboxFolder: Sendable {
    package let inbox: Inbox
    /// The folder; it takes the paths of the inbox's layout.
    package let files: OpenFolder

    package var layout: InboxLayout { inbox.layout }

    /// - Throws: `.noInbox`, `.file`.
    package init(_ inbox: Inbox, _ resolution: OpenFolder.Resolution = .kernel) throws(InboxError) {
        self.inbox = inbox
        do throws(FileError) {
            files = try OpenFolder(following: inbox.root, resolution)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory: throw .noInbox(inbox.root)
            default: throw .file(error)
            }
        }
    }

    /// Nobody but this user, and root, may change what is in the inbox: others could put their own in place of what has
    /// been checked. Folders above it may belong to anybody.
    ///
    /// A sticky root is as good as a closed one: what is in it only its owner can rename or remove.
    ///
    /// - Throws: `.ofOtherUser`, `.openToOthers`, `.file`.
    package func checkIsOurs() throws(InboxError) {
        let (root, depot) = try InboxError.wrapping { () throws(FileError) in
            (try files.status, try files.folder(at: layout.depot).status)
        }
        for (status, path) in [(root, inbox.root), (depot, layout.depot)] {
            guard status.owner == PlatformCalls.effectiveUser || status.owner == 0 else {
                throw .ofOtherUser(path, status.owner)
            }
            let isSticky = path == inbox.root && status.permissions.contains(.saveText)
            guard isSticky || status.permissions.isDisjoint(with: [.groupWrite, .otherWrite]) else {
                throw .openToOthers(path)
            }
        }
    }

    /// Every store that has a folder, sorted by name.
    ///
    /// - Throws: `.noInbox`, `.file`.
    package func storeNames() throws(InboxError) -> [StoreName] {
        do throws(FileError) {
            return try files.names(in: layout.depot).compactMap { StoreName($0) }.sorted()
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory: throw .noInbox(inbox.root)
            default: throw .file(error)
            }
        }
    }

    /// What the link `current` says, if it says something of ours: it is never followed as a link.
    package func currentName(of name: StoreName) -> GenerationName? {
        guard let target = try? files.targetOfSymbolicLink(at: layout.current(name)),
            target.components.count == 2, target.components.first?.string == "generations"
        else { return nil }
        return target.lastComponent.flatMap { GenerationName($0.string) }
    }

    /// The generation that is served, or `nil` if none has been installed yet.
    ///
    /// - Throws: `.file` or `.badManifest` if what `current` names is damaged.
    package func current(of name: StoreName) throws(InboxError) -> Generation? {
        guard let generation = currentName(of: name) else { return nil }
        return try self.generation(generation, of: name)
    }

    /// - Throws: `.badManifest`, `.file`.
    package func generation(_ generation: GenerationName, of name: StoreName) throws(InboxError) -> Generation {
        try Generation(in: try folder(of: generation, name))
    }

    /// The folder of a generation.
    package func folder(of generation: GenerationName, _ name: StoreName) throws(InboxError) -> OpenFolder {
        try InboxError.wrapping { () throws(FileError) in
            try files.folder(at: layout.generations(name).appending(generation.text))
        }
    }

    /// The folder of a generation of this inbox.
    package func folder(of generation: Generation) throws(InboxError) -> OpenFolder {
        try InboxError.wrapping { () throws(FileError) in try files.folder(at: generation.path) }
    }

    /// The names of the kept generations, the oldest first.
    package func generationNames(of name: StoreName) throws(InboxError) -> [GenerationName] {
        try InboxError.wrapping { () throws(FileError) in
            do throws(FileError) {
                return try files.names(in: layout.generations(name)).compactMap { GenerationName($0) }
                    .sorted { $0.number < $1.number }
            } catch {
                if error.errno == .noSuchFileOrDirectory { return [] }
                throw error
            }
        }
    }

    /// Whose shipments of a store are taken, and how far they have come; `nil` if nobody knows.
    ///
    /// - Throws: `.badOrigin`, `.file`.
    package func originRecord(of name: StoreName) throws(InboxError) -> OriginRecord? {
        let record = try OriginRecord.read(at: layout.originRecord(name), in: files)
        guard let current = currentName(of: name) else { return record }
        return try OriginRecord.after(
            current, at: layout.generations(name).appending(current.text), in: files, record)
    }

    /// - Throws: `.badRecord`, `.file`.
    package func rollbackRecord(of name: StoreName) throws(InboxError) -> RollbackRecord {
        try RollbackRecord(at: layout.rollbackRecord(name), in: files)
    }
}
