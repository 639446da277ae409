import FoundationEssentials
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// Old generations go. A reader that has one open keeps it until it closes it: the files have lost their names only.
struct Pruning {
    let inbox: Inbox

    /// Keeps the current generation and the newest others, `count` in all.
    func prune(_ name: StoreName, keeping count: Int) throws(InboxError) {
        let current = inbox.currentName(of: name)
        let others = try inbox.generationNames(of: name).filter { $0 != current }
        for generation in others.dropLast(max(0, count - 1)) {
            try remove(generation, of: name)
        }
    }

    /// Moves the generation out of sight in one step, so that nobody ever finds half of one, and then removes it.
    func remove(_ generation: GenerationName, of name: StoreName) throws(InboxError) {
        let layout = inbox.layout
        try InboxError.wrapping { () throws(FileError) in
            try Folder.make(layout.staging(name))
            let aside = layout.staging(name).appending("pruned-\(UUID().uuidString)")
            try PlatformCalls.rename(layout.generations(name).appending(generation.text), to: aside)
            try Folder.removeTree(at: aside)
        }
    }
}
