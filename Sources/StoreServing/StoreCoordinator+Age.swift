public import GRDB
import ShipProtocol
import StoreFiles
public import StoreInbox
import SystemPackage

/// How old a copy is, and reads of copies that are not too old.
extension StoreCoordinator {
    /// How long a read waits for the source to say that there is nothing newer.
    public static let patience = Duration.seconds(5)

    /// How old the current generation of a store is. The source is not asked.
    ///
    /// - Throws: `.hasNoGenerations` for a file of its own; `.noSuchStore` and the like.
    public func asOf(_ selection: StoreSelection = .only) throws -> CopyAge {
        let (inbox, name) = try inbox(of: selection)
        return try Self.age(of: name, in: inbox)
    }

    /// Makes sure that the current generation of a store is no older than that. Where it may be, a receiver that is connected to the source
    /// asks it, in whichever process it is, and again where the answer was on its way for longer than that.
    ///
    /// - Parameters:
    ///   - selection: Of which store.
    ///   - limit: How old it may be.
    ///   - patience: How long to wait for the answer, and for a newer generation.
    /// - Returns: How old it is.
    /// - Throws: `.tooOld`; `.hasNoGenerations` for a file of its own; `.noSuchStore` and the like; `CancellationError`.
    public func asOf(
        _ selection: StoreSelection = .only, noOlderThan limit: Duration,
        waiting patience: Duration = StoreCoordinator.patience
    ) async throws -> CopyAge {
        let (inbox, name) = try inbox(of: selection)
        let end = ContinuousClock.now + patience.bounded
        let age = try Self.age(of: name, in: inbox)
        guard !age.isWithin(limit) else { return age }
        guard age.isConnected, patience > .zero else { throw CoordinatorError.tooOld(name, age, limit: limit) }
        // It is watched before it is asked for.
        let (notices, notice) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        guard let questions = ageQuestions else { throw CoordinatorError.hasNoGenerations(name) }
        let id = try CoordinatorError.wrapping { () throws(FileError) in try questions.join(name, notice) }
        defer { questions.leave(name, id) }
        let timer = Task {
            try await Task.sleep(until: end)
            notice.finish()
        }
        defer { timer.cancel() }
        do {
            try questions.ask(name)
            for await _ in notices where .now < end {
                let age = try Self.age(of: name, in: inbox)
                if age.isWithin(limit) { return age }
                // Nobody is left to answer.
                if !age.isConnected { break }
                // What has come was on its way for longer than the limit.
                try questions.ask(name)
            }
        } catch is FileError {
            // This process may not write to the inbox.
            throw CoordinatorError.tooOld(name, age, limit: limit)
        }
        try Task.checkCancellation()
        let last = try Self.age(of: name, in: inbox)
        guard last.isWithin(limit) else { throw CoordinatorError.tooOld(name, last, limit: limit) }
        return last
    }

    /// Runs reads on one store, which has everything that was committed in the source longer ago than that when they begin.
    ///
    /// A copy that is not too old is read at once; else a receiver that is connected to the source asks it, in whichever process it is. No
    /// copy is younger than the way of a question and its answer. Cancelling the task interrupts the reads.
    ///
    /// - Parameters:
    ///   - selection: Of which store.
    ///   - limit: How old the copy may be.
    ///   - patience: How long to wait for the source.
    ///   - body: Reads; what it is given ends with it.
    /// - Throws: `.tooOld`; what `pin` throws, and what `body` throws.
    public func read<Value: Sendable>(
        _ selection: StoreSelection = .only, noOlderThan limit: Duration,
        waiting patience: Duration = StoreCoordinator.patience, _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let end = ContinuousClock.now + patience.bounded
        while true {
            let pin = try pin(selection)
            defer { pin.release() }
            let (inbox, name) = try inbox(of: selection)
            let folder = try CoordinatorError.looking { () throws(InboxError) in try inbox.open() }
            let age = folder.age(of: pin.generation.folderName, name)
            if age.isWithin(limit) { return try await pin.read(body) }
            pin.release()
            // Another generation may become current meanwhile, and is read if its age allows.
            let left = max(.zero, end - ContinuousClock.now)
            _ = try await asOf(.named(name), noOlderThan: limit, waiting: left)
        }
    }

    private static func age(of name: StoreName, in inbox: Inbox) throws(CoordinatorError) -> CopyAge {
        let folder = try CoordinatorError.looking { () throws(InboxError) in try inbox.open() }
        guard let current = try CoordinatorError.current(of: name, in: inbox) else {
            throw CoordinatorError(withoutStore: name, in: inbox)
        }
        return folder.age(of: current, name)
    }
}
