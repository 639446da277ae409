import EssentialFoundation
import ShipStore
public import SystemPackage

extension TransferSender: TransferSessionDelegate {
    public nonisolated func session(didReceiveUserInfo userInfo: [String: Any]) -> Bool {
        hear(userInfo) { () throws(TransferMessageError) in nil }
    }

    public nonisolated func session(didReceiveFile file: FilePath, metadata: [String: Any]) -> Bool {
        hear(metadata) { () throws(TransferMessageError) in
            do throws(FileError) {
                return try OpenFile.readingWithoutFollowing(file).read(Limits.messageSize + 1, at: 0)
            } catch {
                throw .file(error)
            }
        }
    }

    public nonisolated func session(didFinishFile metadata: [String: Any], failure: (any Error)?) {
        if let failure, let token = Self.token(of: metadata) {
            let time = now()
            let failed = change { state -> (StoreName, Date)? in
                state.record.fail(token, at: time, state.backoff).map {
                    ($0, state.record.stores[$0]?.notBefore ?? time)
                }
            }
            if let (name, again) = failed {
                report(.undelivered(name, ForeignText(String(describing: failure)), again: again))
            }
        }
        alarm.ring()
    }

    public nonisolated func session(didFinishUserInfo userInfo: [String: Any], failure: (any Error)?) {
        // A question that was not delivered is asked again in its time.
    }

    public nonisolated func sessionDidChange() { alarm.ring() }

    public nonisolated func counterpartDidChange() {
        change { $0.record.doubt() }
        alarm.ring()
    }

    /// - Parameter holdings: Reads the file that came with it.
    private nonisolated func hear(
        _ entries: [String: Any], holdings: () throws(TransferMessageError) -> [UInt8]?
    ) -> Bool {
        guard TransferMessage.isOurs(entries) else { return false }
        do throws(TransferMessageError) {
            guard case .answer(let answer) = try TransferMessage(entries, holdings: holdings) else {
                throw .notForThisHalf
            }
            let time = now()
            let heard = change { state -> (StoreName, SenderRecord.Entry?)? in
                state.record.hear(answer, at: time, state.backoff).map { ($0, state.record.stores[$0]) }
            }
            if let (name, entry) = heard, let outcome = answer.outcome { tell(name, outcome, entry) }
        } catch {
            report(.ignored(error))
        }
        alarm.ring()
        return true
    }

    private nonisolated func tell(
        _ name: StoreName, _ outcome: TransferMessage.Outcome, _ entry: SenderRecord.Entry?
    ) {
        switch outcome {
        case .installed, .unchanged: report(.arrived(name))
        case .outdated: report(.outdated(name))
        case .refused(let reason): report(.refused(name, reason, again: entry?.refusal?.next))
        }
    }
}
