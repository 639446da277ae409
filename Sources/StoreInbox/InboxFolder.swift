package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// An inbox that is open: what is read and written through this value lies in it, whatever becomes of its name, and
/// whatever links are put into it or in its way.
package final class InboxFolder: Sendable {
    package let inbox: Inbox
    /// The folder; it takes the paths of the inbox's layout.
    package let files: OpenFolder

    package var layout: InboxLayout { inbox.layout }

    /// The version of an inbox's format, in JSON in the file of that name. A program that knows only an older one changes nothing in the
    /// inbox, and reads nothing: what it would find may mean something else.
    package static let format = 1

    /// - Throws: `.noInbox`, `.notAFolder`, `.newerFormat`, `.badRecord`, `.file`.
    package init(_ inbox: Inbox) throws(InboxError) {
        self.inbox = inbox
        do throws(FileError) {
            files = try OpenFolder(following: inbox.root)
        } catch {
            switch error.errno {
            case .notDirectory where (try? PlatformCalls.statusFollowingLinks(of: inbox.root)) != nil:
                throw .notAFolder(inbox.root)
            case .noSuchFileOrDirectory, .notDirectory: throw .noInbox(inbox.root)
            default: throw .file(error)
            }
        }
        let flaw = InboxError.badRecord(layout.format, flaw: "it is no number")
        // It is written before anything else is.
        let found: Int? = try files.record(at: layout.format, upTo: 32, flaw)
        if let found, found > Self.format { throw .newerFormat(inbox.root, found) }
    }

    /// Only this user and root may change the content of the inbox: others could replace what has been checked. The folders above
    /// it may belong to any user.
    ///
    /// A sticky root is as good as a closed one: what is in it only its owner can rename or remove.
    ///
    /// - Throws: `.ofOtherUser`, `.openToOthers`, `.file`.
    package func checkIsOurs() throws(InboxError) {
        let status = try InboxError.wrapping { () throws(FileError) in try files.status }
        try check(status, inbox.root, mayBeSticky: true)
        try checkFolder(layout.depot)
    }

    /// The same of what belongs to one store: every folder between the inbox and the files that are read.
    package func checkIsOurs(_ name: StoreName) throws(InboxError) {
        try checkIsOurs()
        for folder in [layout.store(name), layout.generations(name), layout.staging(name)] { try checkFolder(folder) }
        for generation in try generationNames(of: name) {
            let path = layout.generations(name).appending(generation.text)
            let support = path.appending(InboxLayout.supportFolder(name))
            try checkFolder(path)
            guard try checkFolder(support) else { continue }
            for folder in ExternalFileName.Folder.allCases { try checkFolder(support.appending(folder.rawValue)) }
        }
    }

    /// - Returns: Whether there is such a folder. Anything else is not entered; whoever opens it decides.
    @discardableResult
    private func checkFolder(_ path: FilePath) throws(InboxError) -> Bool {
        let found = try InboxError.wrapping { () throws(FileError) in
            try FileError.unless([.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels]) {
                () throws(FileError) in
                try files.status(of: path)
            }
        }
        guard let status = found, status.kind == .folder else { return false }
        try check(status, path, mayBeSticky: false)
        return true
    }

    private func check(_ status: FileStatus, _ path: FilePath, mayBeSticky: Bool) throws(InboxError) {
        guard status.owner == PlatformCalls.effectiveUser || status.owner == 0 else {
            throw .ofOtherUser(path, status.owner)
        }
        let isSticky = mayBeSticky && status.permissions.contains(.saveText)
        guard isSticky || status.permissions.isDisjoint(with: [.groupWrite, .otherWrite]) else {
            throw .openToOthers(path)
        }
    }

    /// Every store that has a folder, sorted by name.
    ///
    /// - Throws: `.noInbox`, `.insideInbox`, `.file`.
    package func storeNames() throws(InboxError) -> [StoreName] {
        do throws(FileError) {
            return try files.names(in: layout.depot).compactMap { StoreName($0) }.filter { isFolder(layout.store($0)) }
                .sorted()
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory: throw noInbox
            default: throw .file(error)
            }
        }
    }

    /// The folder keeps no stores: perhaps another one does, and keeps them there.
    package var noInbox: InboxError {
        InboxLayout.inbox(around: inbox.root).map { .insideInbox(inbox.root, inbox: $0) } ?? .noInbox(inbox.root)
    }

    package func noSuchStore(_ name: StoreName) -> InboxError {
        // It may have a folder, and nothing in it.
        let names = ((try? storeNames()) ?? []).filter { $0 != name }.map(\.text)
        return .noSuchStore(name, near: NearNames.names(near: name.text, among: names))
    }

    private func isFolder(_ path: FilePath) -> Bool { (try? files.status(of: path))?.kind == .folder }

    /// Others' files among the folders of the stores, sorted: they are passed over. Hidden names are the inbox's own.
    package func strangers() -> [FilePath] {
        ((try? files.names(in: layout.depot)) ?? []).filter { !$0.hasPrefix(".") }
            .map { (name: StoreName($0), path: layout.depot.appending(text: $0)) }
            .filter { $0.name == nil || !isFolder($0.path) }.map(\.path)
    }

    /// The name in the link `current`, if it is one of ours: the link is never followed as a link.
    ///
    /// - Throws: `.file`, which proves nothing: without a current generation the others, and the public links, may go.
    package func currentName(of name: StoreName) throws(InboxError) -> GenerationName? {
        let target = try InboxError.wrapping { () throws(FileError) in
            // What is no link says nothing [readlink(2)], and nothing is read through one.
            try FileError.unless(Self.otherKinds) {
                () throws(FileError) in
                try files.targetOfSymbolicLink(at: layout.current(name))
            }
        }
        guard let target, target.components.count == 2, target.components.first?.text == "generations" else {
            return nil
        }
        return target.lastComponent.flatMap { GenerationName($0.text) }
    }

    /// The generation that is served, or `nil` if none has been installed yet.
    ///
    /// - Throws: `.file` or `.badManifest` if what `current` names is damaged.
    package func current(of name: StoreName) throws(InboxError) -> Generation? {
        guard let generation = try currentName(of: name) else { return nil }
        return try self.generation(generation, of: name)
    }

    /// The same; `nil` also if it is damaged, which is no reason to refuse another one.
    ///
    /// - Throws: `.file` where the system fails to read it.
    package func readableCurrent(of name: StoreName) throws(InboxError) -> Generation? {
        do throws(InboxError) {
            return try current(of: name)
        } catch {
            if case .file(let error) = error, !Self.otherKinds.contains(error.errno) { throw .file(error) }
            return nil
        }
    }

    /// The reasons of calls that fail because nothing has the name, or something that is not the inbox's.
    private static let otherKinds = FileError.absence + [.invalidArgument, .tooManySymbolicLinkLevels]

    /// - Throws: `.badManifest`, `.file`.
    package func generation(_ generation: GenerationName, of name: StoreName) throws(InboxError) -> Generation {
        try Generation(in: try folder(of: generation, name))
    }

    package func folder(of generation: GenerationName, _ name: StoreName) throws(InboxError) -> OpenFolder {
        try InboxError.wrapping { () throws(FileError) in
            try files.folder(at: layout.generations(name).appending(generation.text))
        }
    }

    package func folder(of generation: Generation) throws(InboxError) -> OpenFolder {
        try InboxError.wrapping { () throws(FileError) in try files.folder(at: generation.path) }
    }

    /// Whether no generation of a store has been current yet, as far as the inbox shows: there is no `current`, and it has not been shown. A
    /// receiver that died may have left a first generation.
    package func awaitsFirst(_ name: StoreName) throws(InboxError) -> Bool {
        if try holds(layout.current(name)) { return false }
        return try !hasBeenShown(name)
    }

    /// Whether readers have had a store by its public name, as far as the inbox shows: a record says so, there is a number above that of a first
    /// generation, or the name leads to the store. It is made last, so that a power cut may leave a first generation without it.
    package func hasBeenShown(_ name: StoreName) throws(InboxError) -> Bool {
        for path in [layout.rollbackRecord(name), layout.originRecord(name)] {
            if try holds(path) { return true }
        }
        let names = try generationNames(of: name)
        if names.contains(where: { $0.number > 1 }) { return true }
        return names.isEmpty ? false : try isPublic(name)
    }

    private func holds(_ path: FilePath) throws(InboxError) -> Bool {
        try InboxError.wrapping { () throws(FileError) in try files.holds(path) }
    }

    private func isPublic(_ name: StoreName) throws(InboxError) -> Bool {
        let link = layout.storeLink(name)
        return try InboxError.wrapping { () throws(FileError) in
            guard try files.statusIfThere(of: link)?.kind == .symbolicLink else { return false }
            return try files.targetOfSymbolicLink(at: link) == layout.storeLinkTarget(name)
        }
    }

    /// Looks whether all of a generation is there: its files have their sizes, and its store can be opened. Their bytes were compared when they
    /// were installed, and never change.
    ///
    /// - Throws: `.file`, and `.mismatch` for another file.
    package func checkFiles(of generation: Generation) throws(InboxError) {
        for (index, part) in generation.manifest.parts.enumerated() {
            let path = generation.path(ofPart: index)
            let status = try InboxError.wrapping { () throws(FileError) in try files.status(of: path) }
            guard status.kind == .file, status.size == part.size else { throw .mismatch(path) }
        }
        try InboxError.wrapping { () throws(FileError) in _ = try files.file(at: generation.path(ofPart: 0)) }
    }

    /// The names of the kept generations, the oldest first.
    package func generationNames(of name: StoreName) throws(InboxError) -> [GenerationName] {
        try InboxError.wrapping { () throws(FileError) in
            let names = try FileError.unless([.noSuchFileOrDirectory]) { () throws(FileError) in
                try files.names(in: layout.generations(name))
            }
            return (names ?? []).compactMap { GenerationName($0) }.sorted { $0.number < $1.number }
        }
    }

    /// Which device's shipments of a store are accepted, and the highest counter among them; `nil` if that is unknown.
    ///
    /// - Throws: `.badOrigin`, `.file`.
    package func originRecord(of name: StoreName) throws(InboxError) -> OriginRecord? {
        let record = try OriginRecord.read(at: layout.originRecord(name), in: files)
        guard let current = try currentName(of: name) else { return record }
        return try OriginRecord.after(current, at: layout.generations(name).appending(current.text), in: files, record)
    }

    /// Which generations were current a moment ago; none where that cannot be read: it is about seconds.
    package func leftRecord(of name: StoreName) -> LeftRecord {
        files.recordIfReadable(at: layout.leftRecord(name), upTo: LeftRecord.sizeLimit) ?? .empty
    }

    /// Which generation stays although others come, and until when; `nil` for none, and where the record cannot be read: that a delta finds
    /// its base no more costs another file.
    package func leaseRecord(of name: StoreName) -> LeaseRecord? {
        files.recordIfReadable(at: layout.leaseRecord(name))
    }

    /// - Returns: An empty record if there is no file.
    /// - Throws: `.badRecord`, `.file`.
    package func rollbackRecord(of name: StoreName) throws(InboxError) -> RollbackRecord {
        let path = layout.rollbackRecord(name)
        let flaw = InboxError.badRecord(path, flaw: "not a record of rollbacks")
        let record: RollbackRecord? = try files.record(
            at: path, upTo: RollbackRecord.sizeLimit, flaw,
            unreadable: .badRecord(path, flaw: "not a file of its size"))
        guard record?.isInRange ?? true else { throw flaw }
        return record ?? .empty
    }
}
