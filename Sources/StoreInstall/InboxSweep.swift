import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// What a receiver that was killed, or lost its power, may have left behind. Only the owner of an inbox sweeps it.
struct InboxSweep {
    let inbox: Inbox
    /// How many generations of each store stay.
    let kept: Int

    /// Removes stagings, generations that never became current and those that are too many; puts back links that are
    /// missing, and removes those of a store whose first shipment never became current.
    func run() throws(InboxError) {
        for name in try inbox.storeNames() {
            try sweep(name)
        }
    }

    private func sweep(_ name: StoreName) throws(InboxError) {
        let layout = inbox.layout
        try InboxError.wrapping { () throws(FileError) in try Self.empty(layout.staging(name)) }
        guard let current = inbox.currentName(of: name) else {
            // Something else in its place is not for us to judge; and where there was more than a first shipment, somebody
            // has removed the link, and may want the generations.
            let generations = try inbox.generationNames(of: name)
            guard (try? PlatformCalls.status(of: layout.current(name))) == nil,
                generations.allSatisfy({ $0.number == 1 })
            else { return }
            for generation in generations { try Pruning(inbox: inbox).remove(generation, of: name) }
            return try PublicLinks(layout: layout).remove(of: name)
        }
        for generation in try inbox.generationNames(of: name) where generation.number > current.number {
            try Pruning(inbox: inbox).remove(generation, of: name)
        }
        try Pruning(inbox: inbox).prune(name, keeping: kept)
        if let manifest = try? inbox.current(of: name)?.manifest {
            try PublicLinks(layout: layout).make(for: manifest)
        }
    }

    private static func empty(_ folder: FilePath) throws(FileError) {
        guard (try? PlatformCalls.status(of: folder))?.kind == .folder else { return }
        for name in try Folder.names(in: folder) {
            try Folder.removeTree(at: folder.appending(name))
        }
    }
}
