import Foundation
import StoreFiles
import SystemPackage

/// Looks at what a reader of an inbox finds there for one store, and at what a failed shipment might have left.
struct InboxProbe {
    private let current: FilePath
    private let generations: FilePath
    private let staging: FilePath

    init(_ inbox: FilePath, store: String) {
        let folder = inbox.appending(".ship-store").appending(store)
        current = folder.appending("current")
        generations = folder.appending("generations")
        staging = folder.appending("staging")
    }

    var state: InboxState {
        func names(_ folder: FilePath) -> [String] { ((try? Folder.names(in: folder)) ?? []).sorted() }
        return InboxState(
            current: (try? PlatformCalls.targetOfSymbolicLink(at: current))?.string, generations: names(generations),
            staged: names(staging))
    }
}

struct InboxState: Equatable {
    /// What the link `current` says.
    let current: String?
    let generations: [String]
    let staged: [String]
}
