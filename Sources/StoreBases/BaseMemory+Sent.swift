package import ShipProtocol
import StoreFiles

extension BaseMemory {
    /// The stores that were sent under a name, to any receiver.
    package func sent(as name: StoreName) throws(BaseMemoryError) -> [SentStore] {
        try index().sent.filter { $0.name == name }
    }

    /// Notes which store was sent, in place of the one that was sent to that receiver under that name before, if the lock is free soon.
    /// It also removes what killed processes have left beside the index: most often nothing else changes here.
    package func note(_ sent: SentStore) {
        if (try? open()) != nil { TemporaryFolder.sweep(folder, .temporary) }
        guard sent.isShortEnough, (try? self.sent(as: sent.name).contains(sent)) != true, (try? make()) != nil
        else { return }
        _ = try? whileLocked(waiting: .milliseconds(500)) { (change) throws(BaseMemoryError) in
            change.index.note(sent)
            try change.save()
        }
    }
}
