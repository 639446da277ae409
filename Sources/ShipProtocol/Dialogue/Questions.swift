/// The questions of a consumer about its stores in one session, and the ages of its copies.
///
///     acknowledged --ask--> asked --NEWEST of what is here--> its age is known
///                             |
///                             +--NEWEST of what follows--> acknowledged --> its age is known
///
/// An age counts from the asking: the producer has read the store after that, so that a copy of what it has read has all that was
/// committed before. However long the answer was under way, it makes nothing younger. Of each store one question at most is open.
///
/// Source: `Protocol/README.md` section 6.6. Vectors: `dialogue_question_*`.
package struct Questions: Sendable {
    private struct Store {
        /// Of the manifest that was acknowledged last.
        var content: ManifestContent.ID
        /// When it was the newest for certain.
        var asOf: Duration?
        var isWanted = false
        var open: (nonce: UInt64, at: Duration)?
        /// The producer's answer about a state that is still to come.
        var promised: (content: ManifestContent.ID, asOf: Duration)?
    }

    private var stores: [StoreName: Store] = [:]

    package init() {}

    /// A shipment has had its receipt. If no question was answered with it, one is wanted.
    ///
    /// - Returns: When its state was the newest for certain, by the clock of `ask`: what follows in a session is no older than what was
    ///   there before. `nil` for never.
    package mutating func acknowledged(_ manifest: Manifest) -> Duration? {
        let content = ManifestContent(of: manifest).id
        var store = stores[manifest.name] ?? Store(content: content)
        store.content = content
        if let promised = store.promised, promised.content == content {
            store.asOf = max(store.asOf ?? promised.asOf, promised.asOf)
        } else {
            store.isWanted = true
        }
        store.promised = nil
        stores[manifest.name] = store
        return store.asOf
    }

    /// Somebody wants to know how old a copy is, as of now.
    package mutating func want(_ name: StoreName) { stores[name]?.isWanted = true }

    /// The questions that go now: one for each store of which one is wanted, and none is open.
    ///
    /// - Parameter now: By a clock that nothing sets, read before the question goes.
    package mutating func ask(at now: Duration) -> [Question] {
        stores.compactMap { name, store in
            guard store.isWanted, store.open == nil else { return nil }
            // The peer cannot know the number.
            let question = Question(.random(in: .min ... .max), about: name)
            stores[name]?.isWanted = false
            stores[name]?.open = (question.nonce, now)
            return question
        }
    }

    /// An answer has come. One to no open question says nothing.
    ///
    /// - Returns: The store whose copy here was the newest when it was asked about, and when that was.
    package mutating func receive(_ newest: Newest) -> (name: StoreName, asOf: Duration)? {
        guard let (name, store) = stores.first(where: { $0.value.open?.nonce == newest.nonce }), let open = store.open
        else { return nil }
        stores[name]?.open = nil
        guard newest.content == store.content else {
            stores[name]?.promised = (newest.content, open.at)
            return nil
        }
        stores[name]?.asOf = open.at
        return (name, open.at)
    }
}
