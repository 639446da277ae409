import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization
import SystemPackage

/// The questions of readers, in this process or another, for all sessions of a consumer. They share one thread, which sleeps until somebody
/// asks.
final class Bells: Sendable {
    private let folder: InboxFolder
    private let state = Mutex(State())

    private struct State {
        var stores: [StoreName: Weak] = [:]
        var names: [StoreName] = []
        /// Of these names; `nil` if nobody hears, or there is no descriptor left.
        var watch: FileWatch?
    }

    private struct Weak { weak var store: HeardStore? }

    init(_ folder: InboxFolder) { self.folder = folder }

    /// Hears what readers ask about a store for as long as somebody keeps it: until then it counts as connected.
    ///
    /// - Returns: `nil` where the inbox does not let it.
    func store(_ name: StoreName) -> HeardStore? {
        state.withLock { state in
            if let known = state.stores[name]?.store { return known }
            guard let made = try? HeardStore(name, in: folder) else { return nil }
            state.stores[name] = Weak(store: made)
            return made
        }
    }

    /// Watches the stores that are heard now.
    func watch() {
        // What was watched before goes outside of the lock.
        _ = state.withLock { state -> FileWatch? in
            state.stores = state.stores.filter { $0.value.store != nil }
            let names = state.stores.keys.sorted()
            guard names != state.names || state.watch == nil else { return nil }
            let before = state.watch
            state.names = names
            state.watch = try? FileWatch(
                of: names.count, files: { [folder] in [folder.layout.bell(names[$0])] },
                notice: { [weak self] in self?.look(names[$0]) })
            return before
        }
    }

    private func look(_ name: StoreName) {
        let (store, _) = state.withLock { state -> (HeardStore?, FileWatch?) in
            if let store = state.stores[name]?.store { return (store, nil) }
            guard !state.stores.contains(where: { $0.value.store != nil }) else { return (nil, nil) }
            return (nil, state.watch.take())
        }
        store?.look()
    }
}

/// The bell of one store, as long as a session hears it.
final class HeardStore: Sendable {
    let callees = Registrations<Void>()
    private let bell: Bell
    private let word: Mutex<[UInt8]>

    fileprivate init(_ name: StoreName, in folder: InboxFolder) throws(FileError) {
        bell = try Bell(of: name, in: folder)
        word = Mutex(bell.word)
    }

    /// The watch notices too often.
    fileprivate func look() {
        let hasRung = word.withLock { word in
            let before = word
            word = bell.word
            return word != before
        }
        if hasRung { callees.call() }
    }
}
