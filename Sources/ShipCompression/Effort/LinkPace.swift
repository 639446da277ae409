/// Where a sender's time went: into encoding, or into waiting for the link.
package struct LinkPace: Hashable, Sendable {
    /// Less than this says nothing.
    private let shortest: Duration

    private var encoding = Duration.zero
    private var waiting = Duration.zero
    private var wireBytes: Int64 = 0

    package init(shortest: Duration = .milliseconds(20)) { self.shortest = shortest }

    /// - Parameters:
    ///   - encoding: How long the sender waited for something to send.
    ///   - waiting: How long the link took to take it.
    ///   - wireBytes: What it took.
    package mutating func add(encoding: Duration, waiting: Duration, wireBytes: Int64) {
        self.wireBytes += wireBytes
        self.encoding += max(.zero, encoding)
        self.waiting += max(.zero, waiting)
    }

    /// What part of the time the link kept the sender waiting: 0 for a link that takes everything at once, 1 for one that an
    /// encoder need not hurry for. `nil` as long as nobody can tell.
    package var waitingShare: Double? {
        let all = encoding + waiting
        return all < shortest ? nil : waiting / all
    }

    /// What the link takes, in bytes a second, while it keeps the sender waiting.
    package var linkRate: Double { Double(wireBytes) / max(waiting / .seconds(1), 1e-9) }
}
