public import ShipProtocol
import StoreFiles
public import StoreInbox
import StoreInstall

/// The outcome for one generation that the retention does not keep, or of a shipment that broke off: `prune`.
public struct GenerationPruning: Hashable, Sendable {
    public let name: StoreName
    /// `nil` for a shipment that broke off.
    public let generation: Int?
    public let outcome: Outcome

    public enum Outcome: String, Hashable, Sendable {
        case removed
        /// A reader holds it, or released it within the last hour because its app was suspended: a later pruning removes it.
        case held
        /// It would be removed.
        case superfluous
    }

    /// Removes generations that the retention does not keep, and shipments that broke off; of every store of the inbox if none is named. A
    /// receiver may use the inbox meanwhile.
    ///
    /// A generation that was current until a moment ago is removed as well, after two seconds in which a reader may still open it:
    /// this waits for that.
    ///
    /// - Throws: Why the first store that could not be pruned was not. The others are pruned all the same; `report` has been told of each.
    public static func perform(
        on name: StoreName? = nil, in inbox: Inbox, keeping retention: Retention, dryRun: Bool = false,
        report: (GenerationPruning) -> Void = { _ in }
    ) throws(ShipmentError) -> [GenerationPruning] {
        try ShipmentError.wrapping {
            let folder = try inbox.open()
            let names = try folder.storeNames()
            if let name, !names.contains(name) { throw folder.noSuchStore(name) }
            let isNamed = name != nil
            var (findings, failure): ([GenerationPruning], InboxError?) = ([], nil)
            for name in name.map({ [$0] }) ?? names {
                do throws(InboxError) {
                    let found = try dryRun ? look(name, inbox, retention) : prune(name, inbox, retention)
                    found.forEach(report)
                    findings += found
                } catch {
                    guard !error.isCancellation, !Task.isCancelled else { throw error }
                    // It may be removed meanwhile.
                    if !isNamed, case .noSuchStore = error { continue }
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
            return findings
        }
    }

    private static func look(
        _ name: StoreName, _ inbox: Inbox, _ retention: Retention
    ) throws(InboxError) -> [GenerationPruning] {
        let storeLock = try StoreLock(of: name, in: inbox)
        return try storeLock.superfluous(retention).map {
            GenerationPruning(name: name, generation: $0.number, outcome: .superfluous)
        } + brokenOff(storeLock.removeBrokenOff(dryRun: true), of: name, .superfluous)
    }

    private static func brokenOff(_ count: Int, of name: StoreName, _ outcome: Outcome) -> [GenerationPruning] {
        Array(repeating: GenerationPruning(name: name, generation: nil, outcome: outcome), count: count)
    }

    private static func prune(
        _ name: StoreName, _ inbox: Inbox, _ retention: Retention
    ) throws(InboxError) -> [GenerationPruning] {
        let (first, unfinished) = try remove(name, inbox, retention)
        var (removed, held) = (first.removed, first.held)
        if let rest = first.rest {
            // In short pauses, so that it ends soon after a cancellation. Other programs may change the store meanwhile.
            let end = ContinuousClock.now + rest
            while .now < end, !Task.isCancelled { PlatformCalls.pause(pause) }
            let second = try remove(name, inbox, retention).pruned
            removed += second.removed
            held = second.held
        }
        return
            (removed.map { GenerationPruning(name: name, generation: $0.number, outcome: .removed) }
            + held.map { GenerationPruning(name: name, generation: $0.number, outcome: .held) })
            .sorted { $0.generation ?? 0 < $1.generation ?? 0 } + brokenOff(unfinished, of: name, .removed)
    }

    private static let pause = Duration.milliseconds(10)

    private static func remove(
        _ name: StoreName, _ inbox: Inbox, _ retention: Retention
    ) throws(InboxError) -> (pruned: StoreLock.Pruned, unfinished: Int) {
        let storeLock = try StoreLock(of: name, in: inbox)
        storeLock.removeLitter()
        let pruned = try storeLock.prune(retention)
        try storeLock.sync()
        return (pruned, storeLock.removeBrokenOff())
    }
}
