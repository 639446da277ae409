import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

extension InboxFolder {
    /// Opens an inbox, and makes it first if it is not there.
    ///
    /// - Returns: With the folders around it that were missing, the innermost first; `nil` if it was there.
    static func making(_ inbox: Inbox) throws(InboxError) -> (InboxFolder, made: [FilePath]?) {
        var made: [FilePath] = []
        try InboxError.wrapping { () throws(FileError) in
            try Folder.make(inbox.root.isEmpty ? "." : inbox.root, noting: &made)
        }
        let folder = try InboxFolder(inbox)
        let depot = inbox.layout.depot
        return try InboxError.wrapping { () throws(FileError) in
            let isNew = try !folder.files.holds(depot)
            try folder.files.makeFolder(at: depot)
            return (folder, isNew ? made : nil)
        }
    }

    /// Makes the inbox ready for a receiver: it has links, a format that is noted, and folders that are durable.
    ///
    /// - Throws: `.noSymbolicLinks`, `.file`.
    func prepare(orRemove made: [FilePath]?) throws(InboxError) {
        do throws(InboxError) {
            try refuseWithoutLinks()
            try InboxError.wrapping { () throws(FileError) in
                try noteFormat()
                try removeAsides()
                // A receiver may have made the folders and been killed before it synced them. No receipt may rest on a folder that is not
                // durable.
                try files.sync(layout.root)
                try files.sync(layout.depot)
            }
        } catch {
            if let made { removeUnused(with: made) }
            throw error
        }
    }

    /// Removes an inbox of which only the owner's own files are there, to be called under its lock.
    ///
    /// - Parameter made: Folders around it that go, too, the innermost first, if they are empty.
    func removeUnused(with made: [FilePath]) {
        let own = [layout.format, layout.lock]
        guard let names = try? files.names(in: layout.depot),
            names.allSatisfy({ name in own.contains { $0.lastComponent?.text == name } })
        else { return }
        for path in own { try? files.removeFile(path) }
        try? files.removeEmptyFolder(at: layout.depot)
        for path in made { try? PlatformCalls.removeEmptyFolder(path) }
    }

    private func noteFormat() throws(FileError) {
        let (path, aside) = (layout.format, layout.depot.appending(".format-new"))
        guard try !files.holds(path) else { return }
        // A receiver may have been killed here.
        if try files.statusIfThere(of: aside)?.kind == .file { try files.removeFile(aside) }
        let file = try files.makeFile(at: aside)
        do throws(FileError) {
            try file.write(Array("\(Self.format)\n".utf8))
            try file.changeMode(to: .ownerRead)
            try file.sync()
            try files.rename(aside, to: path)
        } catch {
            try? files.removeFile(aside)
            throw error
        }
    }

    private static let linkProbe = ".link"

    /// A shipment would come over, and could not become current. In an inbox that is in use there are links.
    private func refuseWithoutLinks() throws(InboxError) {
        let depot = layout.depot
        do throws(FileError) {
            let probe = depot.appending(Self.linkProbe)
            guard try files.names(in: depot).allSatisfy({ $0.hasPrefix(".") }) else { return }
            if try files.statusIfThere(of: probe)?.kind == .symbolicLink { try files.removeFile(probe) }
            try files.symbolicLink(at: probe, to: ".")
            try files.removeFile(probe)
        } catch {
            guard error.operation == .link, [.notPermitted, .notSupported, .noFunction].contains(error.errno) else {
                throw .file(error)
            }
            throw .noSymbolicLinks(layout.root)
        }
    }
}
