import Foundation
import GRDB
import ShipStore
import SystemPackage

/// What an app does with the product for apps, as a program: `Tests/App/check.py` starts it.
@main
enum AppPeer {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch (arguments.first, arguments.count) {
            case ("send", 3...4): try await send(arguments[1], to: arguments[2], since: arguments.dropFirst(3).first)
            case ("receive", 3): try await receive(arguments[1], into: arguments[2])
            case ("look", 3): try await look(arguments[1], into: arguments[2])
            default:
                end("usage: app-peer send STORE FILE [EARLIER], receive FILE INBOX, or look FOLDER INBOX", 64)
            }
        } catch {
            end("app-peer: \(error)", 1)
        }
    }

    private static func end(_ message: String, _ status: Int32) -> Never {
        _ = try? FileDescriptor.standardError.writeAll(Array("\(message)\n".utf8))
        exit(status)
    }

    /// The phone's side.
    static func send(_ store: String, to file: String, since earlier: String?) async throws {
        var options = Producer.Options()
        options.earlier = earlier.map { FilePath($0) }
        let deliveries = try await Producer(store, options: options).send(to: FilePath(file))
        print("sent", deliveries.map(\.bytesSent))
    }

    /// The watch's side.
    static func receive(_ file: String, into inbox: String) async throws {
        let consumer = try Consumer(inbox: FilePath(inbox))
        let memory = Memory()
        for receipt in try await consumer.receive(from: FilePath(file)) {
            let rows = try await consumer.coordinator.read(.named(receipt.name)) { database in
                try Int.fetchOne(database, sql: "SELECT count(*) FROM note") ?? 0
            }
            print("\(receipt.outcome.rawValue) \(receipt.name), \(rows) notes")
        }
        print("memory \(await memory.growth())")
    }

    /// The watch's side of a publication, whose files come as an app fetches them: here from a folder.
    static func look(_ folder: String, into inbox: String) async throws {
        let consumer = try Consumer(inbox: FilePath(inbox))
        let receipts = try await consumer.receive(published: Endpoint("https://shop.example/notes")) { file in
            let path = FilePath(folder).appending(file.path)
            return FileManager.default.fileExists(atPath: path.string) ? path : nil
        }
        for receipt in receipts { print("\(receipt.outcome.rawValue) \(receipt.name)") }
    }
}

/// How much more memory of its own a process takes than when this was made: what it has written, and not the pages of its program
/// that it has read, which a system takes back as it likes.
struct Memory {
    private let before = Self.now()
    private let watch = Task.detached {
        var most = Self.now()
        while !Task.isCancelled {
            most = max(most, Self.now())
            try? await Task.sleep(for: .milliseconds(1))
        }
        return most
    }

    /// The most so far, in KiB.
    func growth() async -> Int {
        watch.cancel()
        return await watch.value - before
    }

    /// In KiB.
    private static func now() -> Int {
        guard let status = try? String(contentsOf: FilePath("/proc/self/status")) else { return 0 }
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return line.flatMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } } ?? 0
    }
}

extension String {
    /// A small file, such as the system has.
    fileprivate init(contentsOf path: FilePath) throws {
        let file = try FileDescriptor.open(path, .readOnly)
        self = try file.closeAfter {
            try String(unsafeUninitializedCapacity: 16_384) {
                try file.read(into: UnsafeMutableRawBufferPointer($0))
            }
        }
    }
}
