import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// What a receiver that was killed, or lost its power, may have left behind. Only the owner of an inbox sweeps it.
struct InboxSweep {
    let inbox: Inbox
    let retention: Retention

    /// Removes stagings, generations that never became current and those that are too many; puts back links that are
    /// missing, and removes those of a store whose first shipment never became current.
    func run() throws(InboxError) {
        for name in try inbox.storeNames() {
            try sweep(name)
        }
    }

    private func sweep(_ name: StoreName) throws(InboxError) {
        let custody = try StoreCustody(of: name, in: inbox)
        let layout = inbox.layout
        try InboxError.wrapping { () throws(FileError) in try Self.empty(layout.staging(name)) }
        // Where the record cannot be read nobody knows what was current once; the next shipment is told so.
        let record = try? custody.record()
        guard let current = inbox.currentName(of: name) else {
            // Something else in its place is not for us to judge; and where there was more than a first shipment, somebody
            // has removed the link, and may want the generations.
            let generations = try inbox.generationNames(of: name)
            guard (try? PlatformCalls.status(of: layout.current(name))) == nil, record == .empty,
                generations.allSatisfy({ $0.number == 1 })
            else { return }
            for generation in generations { try custody.remove(generation) }
            return try PublicLinks(layout: layout).remove(of: name)
        }
        if let record {
            try custody.settle()
            let highest = max(current.number, record.highest)
            for generation in try inbox.generationNames(of: name) where generation.number > highest {
                try custody.remove(generation)
            }
        }
        try custody.prune(retention)
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
