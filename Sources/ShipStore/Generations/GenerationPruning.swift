public import ShipProtocol
import StoreFiles
public import StoreInbox
import StoreInstall
import SystemPackage

/// The removal of generations that nobody needs any more, and of shipments that broke off: `prune`. A receiver may own the inbox
/// meanwhile.
public struct GenerationPruning: Sendable {
    /// What became of one generation that was to go, or of what waits.
    public struct Finding: Hashable, Sendable {
        public let name: StoreName
        /// `nil` for a shipment that broke off.
        public let generation: Int?
        public let outcome: Outcome

        public enum Outcome: String, Hashable, Sendable {
            case removed
            /// A reader holds it, or has let go of it within the last hour as its app was suspended: it goes at a later pruning.
            case held
            /// It would go.
            case superfluous
        }
    }

    /// Whether anything goes.
    public enum Mode: Hashable, Sendable { case remove, onlyLook }

    public let inbox: Inbox
    public let retention: Retention

    public init(of inbox: Inbox, keeping retention: Retention) {
        self.inbox = inbox
        self.retention = retention
    }

    /// What was current until a moment ago goes as well, once two seconds are over in which a reader may still be on its way
    /// to it: this waits for that.
    ///
    /// - Parameters:
    ///   - name: `nil` for every store of the inbox.
    ///   - mode: Whether they go, or are only found.
    public func run(on name: StoreName? = nil, _ mode: Mode = .remove) throws(ShipmentError) -> [Finding] {
        do throws(InboxError) {
            let names = try inbox.storeNames()
            if let name, !names.contains(name) { throw .noSuchStore(name) }
            var findings: [Finding] = []
            for name in name.map({ [$0] }) ?? names { findings += try prune(name, mode) }
            return findings
        } catch {
            throw .install(error)
        }
    }

    private func prune(_ name: StoreName, _ mode: Mode) throws(InboxError) -> [Finding] {
        let waiting = WaitingShipments(in: try inbox.open())
        guard mode == .remove else {
            return try StoreCustody(of: name, in: inbox).superfluous(retention).map {
                Finding(name: name, generation: $0.number, outcome: .superfluous)
            } + waiting.all(of: name).map { _ in Finding(name: name, generation: nil, outcome: .superfluous) }
        }
        let unfinished = (0..<waiting.remove(of: name)).map { _ in
            Finding(name: name, generation: nil, outcome: .removed)
        }
        let first = try remove(name)
        var (removed, held) = (first.removed, first.held)
        if let rest = first.rest {
            // In pieces, so that it ends soon where it is not wanted any more. Others may change the store meanwhile.
            let end = ContinuousClock.now + rest
            while .now < end, !Task.isCancelled { PlatformCalls.pause(Self.pause) }
            let second = try remove(name)
            removed += second.removed
            held = second.held
        }
        return
            (removed.map { Finding(name: name, generation: $0.number, outcome: .removed) }
            + held.map { Finding(name: name, generation: $0.number, outcome: .held) })
            .sorted { $0.generation ?? 0 < $1.generation ?? 0 } + unfinished
    }

    private static let pause = Duration.milliseconds(10)

    private func remove(_ name: StoreName) throws(InboxError) -> StoreCustody.Pruned {
        let custody = try StoreCustody(of: name, in: inbox)
        custody.removeLitter()
        return try custody.prune(retention)
    }
}
