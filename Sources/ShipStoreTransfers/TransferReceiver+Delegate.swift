import EssentialFoundation
import ShipStore
import Synchronization
public import SystemPackage

extension TransferReceiver: TransferSessionDelegate {
    public nonisolated func session(didReceiveUserInfo userInfo: [String: Any]) -> Bool {
        guard TransferMessage.isOurs(userInfo) else { return false }
        do throws(TransferMessageError) {
            guard case .ask(let token) = try TransferMessage(userInfo) else { throw .notForThisHalf }
            pending.withLock { pending in
                pending.questions.removeAll { $0 == token }
                pending.questions = pending.questions.suffix(Self.mostQuestions - 1) + [token]
            }
        } catch {
            report(.ignored(error))
        }
        alarm.ring()
        return true
    }

    public nonisolated func session(didReceiveFile file: FilePath, metadata: [String: Any]) -> Bool {
        guard TransferMessage.isOurs(metadata) else { return false }
        do throws(TransferMessageError) {
            let message = try TransferMessage(metadata)
            guard case .store = message else { throw .notForThisHalf }
            try arrived.keep(file, message.entries)
        } catch {
            report(.ignored(error))
        }
        alarm.ring()
        return true
    }

    public nonisolated func session(didFinishFile metadata: [String: Any], failure: (any Error)?) {
        finished(metadata, failure)
    }

    public nonisolated func session(didFinishUserInfo userInfo: [String: Any], failure: (any Error)?) {
        finished(userInfo, failure)
    }

    public nonisolated func sessionDidChange() { alarm.ring() }

    public nonisolated func counterpartDidChange() {
        let time = now()
        pending.withLock { $0.announcement = time }
        alarm.ring()
    }

    /// The session has delivered something, or not.
    private nonisolated func finished(_ entries: [String: Any], _ failure: (any Error)?) {
        guard TransferMessage.isOurs(entries) else { return }
        if failure == nil {
            pending.withLock { $0.failures = 0 }
        } else {
            // The sender will ask in time; this may be sooner.
            let again = postpone()
            pending.withLock { $0.announcement = min($0.announcement ?? again, again) }
        }
        alarm.ring()
    }
}
