import ShipProtocol
import StoreInbox

/// What a follower has of a store whose operator has gone back to an older generation.
extension InboxFolder {
    /// Why no shipment of a store comes in; `nil` if they do.
    func hold(of name: StoreName) throws(InboxError) -> InboxError? {
        let hold = try rollbackRecord(of: name).hold(at: try currentName(of: name)?.number)
        return hold.map { .onHold(name, since: $0.at) }
    }

    /// Why a state that has come before, and is not current, does not come again; `nil` where its operator has not gone back from it.
    ///
    /// - Parameter cameLast: Whether none of its device has come after it.
    func refusal(of name: StoreName, cameLast: Bool) throws(InboxError) -> InboxError? {
        if let hold = try hold(of: name) { return hold }
        let record = try rollbackRecord(of: name)
        guard cameLast, let current = try currentName(of: name)?.number, current < record.highest,
            record.refused.contains(where: { $0.generation == record.highest })
        else { return nil }
        return .rolledBack(name, number: record.highest)
    }

    /// The generation that came last, if another one is current: what was published next begins with it.
    func last(of name: StoreName) throws(InboxError) -> Generation? {
        guard let last = try generationNames(of: name).last, try last != currentName(of: name) else { return nil }
        return try? generation(last, of: name)
    }

    /// That one, if the operator who went back lets it come in again.
    func lastAllowedAgain(of name: StoreName) throws(InboxError) -> Generation? {
        guard try hold(of: name) == nil, let last = try last(of: name),
            try rollbackRecord(of: name).entry(of: last.manifest.store.sha256) == nil
        else { return nil }
        return last
    }

    /// The content that a step begins with.
    func content(before step: PublishedStep, of name: StoreName) throws(InboxError) -> ManifestContent? {
        let current = try current(of: name).map { ManifestContent(of: $0.manifest) }
        return try step.from == current?.id ? current : last(of: name).map { ManifestContent(of: $0.manifest) }
    }
}
