import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// What is current of a store, for who tells an operator how it is.
extension InboxFolder {
    /// The generation that is served, or `nil` if none has been installed yet.
    ///
    /// - Throws: `.lost` where it is gone, or what names it; `.badManifest`, `.file`.
    func shownCurrent(of name: StoreName) throws(InboxError) -> Generation? {
        while let current = try currentName(of: name) {
            do throws(InboxError) {
                return try generation(current, of: name)
            } catch {
                // Another one may be current meanwhile, and this one gone.
                guard try currentName(of: name) != current else { throw error.asOfInbox }
            }
        }
        let link = layout.current(name)
        let isThere = try InboxError.wrapping { () throws(FileError) in try files.holds(link) }
        if isThere {
            // The first one may have become current just now.
            guard try currentName(of: name) == nil else { return try shownCurrent(of: name) }
            throw .badManifest(link, flaw: "it is no link to a generation")
        }
        if try !awaitsFirst(name), try !generationNames(of: name).isEmpty { throw .lost(link) }
        return nil
    }
}

extension InboxError {
    /// What is missing where the inbox names it is lost.
    var asOfInbox: InboxError {
        if case .file(let error) = self, error.isOfAbsence { .lost(error.path) } else { self }
    }
}
