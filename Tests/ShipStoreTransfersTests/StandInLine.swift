import Foundation
import ShipStoreTransfers
import StoreFiles
import Synchronization
import SystemPackage
import Testing

/// What a system keeps of an app's session: transfers that are queued, whether or not the app runs. It delivers when, how often and in
/// which order a test says.
final class StandInLine: Sendable {
    enum Item: Hashable, Sendable {
        case userInfo([String: String])
        case file(FilePath, [String: String])
    }

    enum Failure: Error { case unreachable, noSuchFile }

    private let items = Mutex<[Item]>([])
    private let contexts = Mutex<(sent: Data?, received: Data?, isPending: Bool)>((nil, nil, false))
    private let scratch: FilePath

    /// - Parameter scratch: Where the other system puts what came.
    init(scratch: FilePath) { self.scratch = scratch }

    var queued: [Item] { items.withLock { $0 } }
    var isEmpty: Bool { queued.isEmpty && !hasContext }

    /// Whether there is a context that has not arrived.
    var hasContext: Bool { contexts.withLock { $0.isPending } }

    /// The application context: the latest one takes the place of those before.
    var context: Data? {
        get { contexts.withLock { $0.sent } }
        set {
            contexts.withLock {
                if $0.sent != newValue { ($0.sent, $0.isPending) = (newValue, true) }
            }
        }
    }

    var receivedContext: Data? { contexts.withLock { $0.received } }

    /// - Parameter receiver: `nil` while the counterpart's app does not run.
    func deliverContext(to receiver: (any TransferSessionDelegate)?) {
        contexts.withLock { ($0.received, $0.isPending) = ($0.sent, false) }
        receiver?.sessionDidChange()
    }

    /// As the counterpart's device that was set up anew: nothing comes again by itself.
    func loseContext() { contexts.withLock { ($0.received, $0.isPending) = (nil, false) } }

    var files: [(path: FilePath, metadata: [String: String])] {
        queued.compactMap { if case .file(let path, let metadata) = $0 { (path, metadata) } else { nil } }
    }

    func add(_ item: Item) { items.withLock { $0.append(item) } }

    func remove(where isMeant: (Item) -> Bool) { items.withLock { $0.removeAll(where: isMeant) } }

    /// As a device that was set up anew.
    func clear() {
        remove { _ in true }
        context = nil
    }

    /// Delivers one.
    ///
    /// - Parameter isRepeated: Whether it stays queued, as after an end that nobody wrote down.
    func deliver(
        _ index: Int = 0, from sender: (any TransferSessionDelegate)?, to receiver: any TransferSessionDelegate,
        isRepeated: Bool = false
    ) throws {
        guard index < queued.count else { return deliverContext(to: receiver) }
        let item = queued[index]
        switch item {
        case .userInfo(let entries): #expect(receiver.session(didReceiveUserInfo: entries))
        case .file(let path, let metadata):
            guard (try? PlatformCalls.status(of: path)) != nil else {
                // It was to stay until its end is told.
                Issue.record("\(path) is gone")
                return fail(index, to: sender)
            }
            let copy = scratch.appending(UUID().uuidString)
            try FileManager.default.copyItem(atPath: path.string, toPath: copy.string)
            #expect(receiver.session(didReceiveFile: copy, metadata: metadata))
            // What was not moved is gone.
            try Folder.removeTree(at: copy)
        }
        guard !isRepeated else { return }
        end(item, nil, to: sender)
    }

    /// Gives one up.
    func fail(_ index: Int, to sender: (any TransferSessionDelegate)?) {
        end(queued[index], Failure.unreachable, to: sender)
    }

    private func end(_ item: Item, _ failure: Failure?, to sender: (any TransferSessionDelegate)?) {
        items.withLock { items in
            if let index = items.firstIndex(of: item) { items.remove(at: index) }
        }
        switch item {
        case .userInfo(let entries): sender?.session(didFinishUserInfo: entries, failure: failure)
        case .file(_, let metadata): sender?.session(didFinishFile: metadata, failure: failure)
        }
    }
}

/// One process' session over a line.
final class StandInSession: TransferSession {
    private struct State {
        var isReady = true
        var timesAsked = 0
        /// How often it says that it is ready, before it no longer is; `nil` for always.
        var questionsLeft: Int?
        var whenUnready: (@Sendable () -> Void)?
        /// How many calls it makes before it is killed; `nil` if it is not.
        var callsLeft: Int?
        var whenKilled: (@Sendable () -> Void)?
    }

    private let line: StandInLine
    private let other: StandInLine
    private let state = Mutex(State())

    /// - Parameters:
    ///   - line: To the counterpart.
    ///   - other: From it.
    init(_ line: StandInLine, _ other: StandInLine) { (self.line, self.other) = (line, other) }

    var isReady: Bool {
        get {
            let (isReady, whenUnready) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
                state.timesAsked += 1
                if let left = state.questionsLeft {
                    state.questionsLeft = left == 0 ? nil : left - 1
                    if left == 0 {
                        state.isReady = false
                        return (false, state.whenUnready)
                    }
                }
                return (state.isReady, nil)
            }
            whenUnready?()
            return isReady
        }
        set { state.withLock { $0.isReady = newValue } }
    }

    /// Is ready that often, and then no longer.
    func endReadiness(afterQuestions count: Int, _ whenUnready: @escaping @Sendable () -> Void) {
        state.withLock { ($0.questionsLeft, $0.whenUnready) = (count, whenUnready) }
    }

    /// How often it was asked whether it is ready.
    var timesAsked: Int { state.withLock { $0.timesAsked } }

    var hasContentPending: Bool { false }

    /// Kills the process at a call that changes something: nothing that it does from there on counts.
    ///
    /// - Parameter whenKilled: To take hold of its folders as they are then.
    func kill(afterCalls count: Int, _ whenKilled: @escaping @Sendable () -> Void) {
        state.withLock { ($0.callsLeft, $0.whenKilled) = (count, whenKilled) }
    }

    private var isAlive: Bool {
        let (isAlive, whenKilled) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard let left = state.callsLeft else { return (true, nil) }
            guard left == 0 else {
                state.callsLeft = left - 1
                return (true, nil)
            }
            defer { state.whenKilled = nil }
            return (false, state.whenKilled)
        }
        whenKilled?()
        return isAlive
    }

    func transferFile(_ file: FilePath, metadata: [String: String]) {
        #expect(metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } < 65_536)
        if isAlive { line.add(.file(file, metadata)) }
    }

    func transferUserInfo(_ userInfo: [String: String]) {
        #expect(userInfo.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } < 65_536)
        if isAlive { line.add(.userInfo(userInfo)) }
    }

    var context: Data? { line.context }
    var receivedContext: Data? { other.receivedContext }

    struct TooLarge: Error {}

    func setContext(_ context: Data?) throws {
        guard context?.count ?? 0 <= 262_144 else { throw TooLarge() }
        if isAlive { line.context = context }
    }

    var outstandingFileTransfers: [[String: String]] { line.files.map(\.metadata) }

    var outstandingUserInfoTransfers: [[String: String]] {
        line.queued.compactMap { if case .userInfo(let entries) = $0 { entries } else { nil } }
    }

    func cancelFileTransfers(where isMeant: ([String: String]) -> Bool) {
        let meant = line.files.map(\.metadata).filter(isMeant)
        guard !meant.isEmpty, isAlive else { return }
        line.remove { if case .file(_, let metadata) = $0 { meant.contains(metadata) } else { false } }
    }
}
