import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreSnapshot
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// A bank whose money never grows or shrinks, in WAL mode, and the clerks who move it about.
private final class Bank: Sendable {
    static let accounts = 400
    static let total = accounts * 1000
    private let path: FilePath
    /// Open before all others: who makes the log's index keeps those that come meanwhile waiting, whoever it is.
    private let first: DatabaseQueue
    private let isOpen = Mutex(true)
    /// Clerks take turns, and so do checkpoints: nobody but the copy is left who could keep one of them waiting.
    private let turn = Mutex(0)
    private let failures = Mutex<[String]>([])

    init(at path: FilePath) throws {
        self.path = path
        try TestStore.make(
            at: path,
            sql: """
                PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;
                CREATE TABLE account(id INTEGER PRIMARY KEY, balance INT, note TEXT);
                CREATE INDEX account_balance ON account(balance);
                CREATE TABLE transfer(id INTEGER PRIMARY KEY, amount INT);
                CREATE TABLE book(transfers INT, moved INT);
                INSERT INTO book VALUES (0, 0);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.accounts))
                INSERT INTO account SELECT i, 1000, hex(randomblob(100)) FROM n;
                """)
        first = try TestStore.open(path)
        _ = try first.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM account") }
    }

    /// Moves money until the bank closes, over a connection that waits for nobody.
    func work(clerk: Int) {
        do {
            let queue = try TestStore.open(path, preparation: "PRAGMA wal_autocheckpoint = 20")
            while isOpen.withLock({ $0 }) {
                try turn.withLock { transfers in
                    try queue.writeWithoutTransaction { try Self.transfer($0, number: transfers) }
                    transfers += 1
                    let mode = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][transfers % 4]
                    // A checkpoint that readers keep from its end is no error, and says so in its row.
                    if transfers % 8 == 0 {
                        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(\(mode))") }
                    }
                }
            }
            try queue.close()
        } catch {
            failures.withLock { $0.append("clerk \(clerk): \(error)") }
        }
    }

    private static func transfer(_ database: Database, number: Int) throws {
        let amount = Int.random(in: 1...50)
        let note = String(repeating: "n", count: number % 300)
        try database.execute(sql: "BEGIN IMMEDIATE")
        try database.execute(
            sql: "UPDATE account SET balance = balance - ?, note = ? WHERE id = ?",
            arguments: [amount, note, Int.random(in: 1...accounts)])
        try database.execute(
            sql: "UPDATE account SET balance = balance + ? WHERE id = ?",
            arguments: [amount, Int.random(in: 1...accounts)])
        try database.execute(sql: "INSERT INTO transfer(amount) VALUES (?)", arguments: [amount])
        try database.execute(sql: "UPDATE book SET transfers = transfers + 1, moved = moved + ?", arguments: [amount])
        try database.execute(sql: "COMMIT")
    }

    /// Leaves the index's header half written for a moment again and again, as a writer does with each commit, but for longer.
    ///
    /// A writer writes the second copy of the header first [walformat.html section 2.1], so what ends it is a copy of that.
    func writeSlowly(_ index: LogIndex) {
        while isOpen.withLock({ $0 }) {
            turn.withLock { _ in
                index.tear()
                usleep(200)
                index.mend()
            }
            usleep(50)
        }
    }

    /// - Returns: How many transfers there were, and what went wrong.
    func close(_ clerks: [Thread]) async -> (transfers: Int, failures: [String]) {
        isOpen.withLock { $0 = false }
        while !clerks.allSatisfy(\.isFinished) { try? await Task.sleep(for: .milliseconds(1)) }
        try? first.close()
        // Two that close at once may each take the other for one who stays, and leave the log to it.
        try? TestStore.open(path).close()
        return (turn.withLock { $0 }, failures.withLock { $0 })
    }

    /// What does not add up in a copy; empty if all does.
    static func audit(_ copy: FilePath) throws -> [String] {
        let queue = try DatabaseQueue(path: copy.string)
        return try queue.read { database in
            var flaws = try String.fetchAll(database, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
            func expect(_ query: String, _ expected: Int?) throws {
                let found = try Int.fetchOne(database, sql: query)
                if found != expected { flaws.append("\(query): \(found ?? 0) rather than \(expected ?? 0)") }
            }
            try expect("SELECT sum(balance) FROM account", total)
            try expect("SELECT count(*) FROM account", accounts)
            let book = try Row.fetchOne(database, sql: "SELECT transfers, moved FROM book")
            try expect("SELECT count(*) FROM transfer", book?["transfers"])
            try expect("SELECT coalesce(sum(amount), 0) FROM transfer", book?["moved"])
            return flaws
        }
    }
}

/// The header of a log's index, mapped for as long as this lives.
private final class LogIndex: @unchecked Sendable {
    private static let headerSize = 48
    private let file: FileDescriptor
    private let bytes: UnsafeMutableRawPointer

    /// Make it after the first connection, and keep it until the last is closed: a descriptor that is closed takes the locks of the process
    /// along [sqlite.org/howtocorrupt.html section 2.2].
    init(of store: FilePath) throws {
        file = try FileDescriptor.open(FilePath(store.string + "-shm"), .readWrite)
        let mapped = mmap(nil, 2 * Self.headerSize, PROT_READ | PROT_WRITE, MAP_SHARED, file.rawValue, 0)
        bytes = try #require(mapped == MAP_FAILED ? nil : mapped)
    }

    deinit {
        munmap(bytes, 2 * Self.headerSize)
        try? file.close()
    }

    func tear() {
        bytes.storeBytes(of: ~bytes.load(fromByteOffset: 8, as: UInt32.self), toByteOffset: 8, as: UInt32.self)
    }
    func mend() { bytes.copyMemory(from: bytes + Self.headerSize, byteCount: Self.headerSize) }
}

@Suite(.serialized) struct BankTests {
    @Test func `no writer meets a lock because a copy began while a header was half written`() async throws {
        let scratch = try ScratchFolder()
        let (path, temporary) = (try scratch.folder("home").appending("bank.sqlite"), try scratch.folder("temporary"))
        let bank = try Bank(at: path)
        let index = try LogIndex(of: path)
        let store = try SourceStore(at: path)
        let threads = [Thread { bank.work(clerk: 1) }, Thread { bank.writeSlowly(index) }]
        threads.forEach { $0.start() }
        var flaws: [String] = []
        for _ in 1...300 {
            let copy = try await store.compactCopy(in: temporary)
            flaws += try Bank.audit(copy.path)
        }
        let (transfers, failures) = await bank.close(threads)
        #expect(flaws == [])
        #expect(failures == [])
        #expect(transfers > 100)
        withExtendedLifetime(index) {}
    }

    @Test func `200 copies under four writers and constant checkpoints add up, and nobody waits`() async throws {
        let scratch = try ScratchFolder()
        let (home, temporary) = (try scratch.folder("home"), try scratch.folder("temporary"))
        let path = home.appending("bank.sqlite")
        let bank = try Bank(at: path)
        let store = try SourceStore(at: path)
        let clerks = (1...4).map { clerk in Thread { bank.work(clerk: clerk) } }
        clerks.forEach { $0.start() }
        var flaws: [String] = []
        var digests: Set<String> = []
        for _ in 1...200 {
            let copy = try await store.compactCopy(in: temporary)
            flaws += try Bank.audit(copy.path)
            digests.insert(copy.facts.sha256.hex)
        }
        let (transfers, failures) = await bank.close(clerks)
        #expect(flaws == [])
        // Not one of them met a lock, though none was ready to wait for any.
        #expect(failures == [])
        #expect(transfers > 200)
        #expect(digests.count > 100)
        #expect(try Folder.names(in: temporary) == [])
        #expect(try Folder.names(in: home) == ["bank.sqlite"])
    }
}
