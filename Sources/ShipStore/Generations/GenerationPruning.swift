public import ShipProtocol
public import StoreInbox
import StoreInstall
import SystemPackage

/// The removal of generations that nobody needs any more: `prune`. A receiver may own the inbox meanwhile.
public struct GenerationPruning: Sendable {
    /// What became of one generation that was to go.
    public struct Finding: Hashable, Sendable {
        public let name: StoreName
        public let generation: Int
        public let outcome: Outcome

        public enum Outcome: String, Hashable, Sendable {
            case removed
            /// A reader holds it: it goes at the next pruning.
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
        let custody = try StoreCustody(of: name, in: inbox)
        switch mode {
        case .onlyLook:
            return try custody.superfluous(retention).map {
                Finding(name: name, generation: $0.number, outcome: .superfluous)
            }
        case .remove:
            custody.removeLitter()
            let (removed, held) = try custody.prune(retention)
            return
                (removed.map { Finding(name: name, generation: $0.number, outcome: .removed) }
                + held.map { Finding(name: name, generation: $0.number, outcome: .held) })
                .sorted { $0.generation < $1.generation }
        }
    }
}
