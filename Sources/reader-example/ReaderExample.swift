import GRDB
import ShipStore
import SystemPackage

/// A reader of an inbox, as an app on a companion device would be one: it shows what is there, and again what has changed,
/// for as long as it runs. Shipments may arrive at any moment, in another process.
///
///     reader-example inbox
@main
struct ReaderExample {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            say("usage: reader-example INBOX")
            return
        }
        let coordinator = StoreCoordinator(inbox: FilePath(CommandLine.arguments[1]))
        // Before the first look, so that nothing falls between the two.
        let changes = try coordinator.changes()
        for store in try coordinator.stores { await show(store, of: coordinator) }
        for await change in changes {
            switch change {
            case .generation(let change):
                tell(change)
                await show(change.store, of: coordinator)
            case .rewritten(let store): await show(store, of: coordinator)
            case .removed(let store): say("\(store) is gone")
            case .unreadable(let store, let number, _): say("\(store) \(number) cannot be read")
            }
        }
    }

    /// The data that a screen would be drawn from: all of it from one generation, though several reads make it.
    ///
    /// A store is what somebody else made: what cannot be read of it is said, and no reason to end.
    private static func show(_ store: StoreName, of coordinator: StoreCoordinator) async {
        do {
            let pin = try coordinator.pin(.named(store))
            let tables = try await pin.read { database in
                try String.fetchAll(
                    database,
                    sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1")
            }
            for table in tables {
                let words = await rows(of: table, in: pin)
                say("\(store) \(pin.generation.number): \(words)")
            }
            if tables.isEmpty { say("\(store) \(pin.generation.number): it has no tables") }
        } catch {
            say("\(store) cannot be read: \(String(describing: error))")
        }
    }

    private static func rows(of table: String, in pin: Pin) async -> PrintableText {
        do {
            let rows = try await pin.read { try Table(table).fetchCount($0) }
            return "\(table) has \(rows) rows"
        } catch {
            return "\(table) cannot be read: \(String(describing: error))"
        }
    }

    /// The changes by which an app would find out which of its screens to draw anew.
    private static func tell(_ change: GenerationChange) {
        let tables = change.difference.tables?.map(\.name.text).joined(separator: ", ") ?? "any table"
        say("\(change.store) \(change.to.number) is new: other rows in \(tables.isEmpty ? "no table" : tables)")
    }

    /// At once, also into a pipe.
    private static func say(_ line: PrintableText) {
        _ = try? FileDescriptor.standardOutput.writeAll("\(line)\n".utf8)
    }
}
