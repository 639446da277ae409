import EssentialFoundation
import ShipStore
import StoreFiles
import StoreInbox
import StoreOperations
import Synchronization
import SystemPackage

/// Figures of a command that runs for long, in Prometheus' text format, for whoever asks, or in a file, which is replaced in one step.
///
/// Source: prometheus.io/docs/instrumenting/exposition_formats. `Documentation/OPERATION.md` says what each means. A label `store` is a store's
/// name, or empty for what belongs to none, and for the stores beyond `mostStores`; `code` is one of `ShipmentError.code`.
final class Metrics: Sendable {
    /// On which side of shipments the command is.
    enum Side: String {
        case received
        case sent
    }

    private struct Store {
        var generation: Int?
        var lastSuccess: Double?
        var bytes: Int64 = 0
        var shipments = 0
        var seconds = 0.0
        var installs = 0
        var failures: [String: Int] = [:]
    }

    private struct State {
        var stores: [String: Store] = [:]
        var disconnections = 0
        var hasChanged = false
        var written: ContinuousClock.Instant?
        var isBroken = false
    }

    /// Most stores that have figures of their own.
    private static let mostStores = 256
    private static let interval = Duration.seconds(1)
    /// How often it is written although nothing has happened: ages grow.
    private static let longestInterval = Duration.seconds(15)
    private static let prefix = "ship_store_"
    /// The kind of file that it may replace.
    private static let kind = ResultFile.Kind(beginning: Array("# HELP \(prefix)".utf8))

    private let side: Side
    private let path: FilePath?
    /// How old the copies of an inbox are.
    private let inbox: Inbox?
    private let state = Mutex(State())

    init(_ side: Side, at path: FilePath?, of inbox: Inbox? = nil) {
        self.side = side
        self.path = path
        self.inbox = inbox
    }

    /// Keeps the figures as long as `body` runs, and writes the file once more at its end.
    ///
    /// - Throws: If it cannot be written at first, and what `body` throws. Later failures are told on the console, once.
    func whileKept(_ console: Console, _ body: () async throws -> Void) async throws {
        // What an earlier run has installed counts.
        for status in try inbox?.status() ?? [] {
            guard let current = status.current else { continue }
            change(status.name) {
                $0.generation = current.generation.number
                $0.lastSuccess = current.installedAt.date.timeIntervalSince1970
            }
        }
        guard let path else { return try await body() }
        try ShipmentError.wrapping { try NamedStore(path).home.refuseIfKept(.write) }
        try write()
        let writer = Task {
            while (try? await Task.sleep(for: Self.interval)) != nil { writeIfDue(console) }
        }
        defer {
            writer.cancel()
            writeIfDue(console, atEnd: true)
        }
        try await body()
    }

    // MARK: What happens

    func observe(_ report: ReceiveReport) {
        let bytes = report.session?.bytesReceived ?? 0
        switch report.event {
        case .finished(let receipt, let duration): succeed(receipt.name, receipt, bytes, duration)
        case .failed(let error): fail(report.session?.name, error, bytes)
        case .listener(.turnedAway(_, let error)): fail(nil, error)
        case .disconnected: disconnect()
        default: break
        }
    }

    func observe(_ event: SendEvent) {
        switch event {
        case .delivered(let delivery):
            succeed(delivery.manifest.name, delivery.receipt, delivery.bytesSent, delivery.duration)
        case .failed(let name, let error): fail(name, error)
        case .listener(.turnedAway(_, let error)): fail(nil, error)
        case .disconnected: disconnect()
        default: break
        }
    }

    private func succeed(_ name: StoreName, _ receipt: Receipt?, _ bytes: Int64, _ duration: Duration) {
        change(name) { store in
            store.lastSuccess = PlatformCalls.timeOfDay / .seconds(1)
            store.generation = receipt?.generation ?? store.generation
            store.bytes += bytes
            store.shipments += 1
            store.seconds += duration / .seconds(1)
            if receipt?.outcome == .installed { store.installs += 1 }
        }
    }

    private func fail(_ name: StoreName?, _ error: ShipmentError, _ bytes: Int64 = 0) {
        guard error != .stopped else { return }
        change(name) { store in
            store.bytes += bytes
            store.failures[error.code, default: 0] += 1
        }
    }

    private func disconnect() {
        state.withLock { state in
            state.disconnections += 1
            state.hasChanged = true
        }
    }

    private func change(_ name: StoreName?, _ body: (inout Store) -> Void) {
        state.withLock { state in
            let key = name?.text ?? ""
            let hasPlace = state.stores[key] != nil || state.stores.count < Self.mostStores
            body(&state.stores[hasPlace ? key : "", default: Store()])
            state.hasChanged = true
        }
    }

    /// The text of the file, now.
    var text: String { state.withLock { text(of: $0) } }

    // MARK: The file

    private func writeIfDue(_ console: Console, atEnd: Bool = false) {
        let isDue = state.withLock { state in
            atEnd || state.hasChanged || state.written.map { .now - $0 >= Self.longestInterval } ?? true
        }
        guard isDue, atEnd || !Task.isCancelled else { return }
        do {
            try write()
        } catch {
            let isFirst = state.withLock { state in
                defer { state.isBroken = true }
                return !state.isBroken
            }
            if isFirst { console.warn("the figures are not written: \(error.cause)") }
        }
    }

    /// One after the other, so that no older figures replace newer ones.
    private func write() throws(ShipmentError) {
        guard let path else { return }
        let error = state.withLock { state -> FileError? in
            do throws(FileError) {
                let file = try ResultFile(path, replacing: Self.kind)
                try file.write(Array(text(of: state).utf8))
                guard try file.finish() else { throw FileError(.rename, path, .fileExists) }
                (state.hasChanged, state.written, state.isBroken) = (false, .now, false)
                return nil
            } catch {
                return error
            }
        }
        if let error { throw .file(error) }
    }

    private func text(of state: State) -> String {
        var text = Self.family(
            "build_info", "gauge", "The version of the program.", [([("version", Software.version)], "1")])
        let stores = state.stores.sorted { $0.key < $1.key }
        func add(_ name: String, _ type: String, _ help: String, _ value: (String, Store) -> String?) {
            text += Self.family(
                name, type, help, stores.compactMap { key, store in value(key, store).map { ([("store", key)], $0) } })
        }
        let folder = try? inbox?.open()
        // An operator may have gone back, or have the store forgotten.
        func generation(_ key: String, _ store: Store) -> Int? {
            guard let folder else { return store.generation }
            return StoreName(key).flatMap { try? folder.currentName(of: $0)?.number }
        }
        add("last_success_timestamp_seconds", "gauge", "When a shipment of the store last succeeded.") { key, store in
            guard folder == nil || generation(key, store) != nil else { return nil }
            return store.lastSuccess.map { "\($0)" }
        }
        add("generation", "gauge", "The current generation of the store at the receiver.") { key, store in
            generation(key, store).map { "\($0)" }
        }
        if let folder {
            add("age_seconds", "gauge", "Since when the source may have commits that the copy has not.") { key, _ in
                StoreName(key).flatMap { folder.ageRecord(of: $0)?.age(of: (try? folder.currentName(of: $0)) ?? nil) }
                    .map { "\($0 / .seconds(1))" }
            }
        }
        add("\(side.rawValue)_bytes_total", "counter", "Bytes of shipments on the wire, \(side.rawValue).") {
            "\($1.bytes)"
        }
        add("shipments_total", "counter", "Shipments that succeeded.") { "\($1.shipments)" }
        add("shipment_seconds_total", "counter", "How long the shipments that succeeded took, together.") {
            "\($1.seconds)"
        }
        add("installs_total", "counter", "Shipments that made another generation current.") { "\($1.installs)" }
        let failures = stores.flatMap { key, store in
            store.failures.sorted { $0.key < $1.key }.map { ([("store", key), ("code", $0.key)], "\($0.value)") }
        }
        text += Self.family("failures_total", "counter", "Shipments that failed, and peers turned away.", failures)
        return text
            + Self.family(
                "disconnections_total", "counter", "Links that ended, or did not come about, between shipments.",
                [([], "\(state.disconnections)")])
    }

    private static func family(
        _ name: String, _ type: String, _ help: String, _ samples: [([(String, String)], String)]
    ) -> String {
        guard !samples.isEmpty else { return "" }
        let lines = samples.map { labels, value in
            let pairs = labels.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
            return "\(prefix)\(name)\(pairs.isEmpty ? "" : "{\(pairs)}") \(value)\n"
        }
        return "# HELP \(prefix)\(name) \(help)\n# TYPE \(prefix)\(name) \(type)\n" + lines.joined()
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: #"\\"#).replacing("\"", with: #"\""#).replacing("\n", with: #"\n"#)
    }
}
