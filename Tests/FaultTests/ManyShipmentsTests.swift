import Foundation
import ShipStore
import ShipStoreNetwork
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct ManyShipmentsTests {
    /// What a process holds.
    private struct Use {
        let descriptors = OpenDescriptors.count
        /// Resident memory, in bytes.
        let memory: Int

        init() throws {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            memory = (Int(text.split(separator: " ")[1]) ?? 0) * 4096
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/statm"), "there is no /proc"))
    func `thousands of shipments to one inbox leave nothing behind`() async {
        // A process of its own, as other tests open files and take memory.
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            let count = Soak.isOn ? 10_000 : 600
            var shipments: [FilePath] = []
            // What is older than what is current is refused: both copies are of one second.
            let now = Date().timeIntervalSince1970
            try await Task.sleep(for: .seconds(now.rounded(.up) - now))
            for number in 1...2 {
                let store = scratch.path.appending("Tiny.sqlite")
                try TestStore.make(at: store, sql: "CREATE TABLE t\(number)(a); INSERT INTO t\(number) VALUES (1);")
                shipments.append(scratch.path.appending("\(number).shipment"))
                _ = try await Producer(store).send(to: .file(shipments[number - 1]))
            }
            let inbox = scratch.path.appending("inbox")
            let consumer = try Consumer(inbox: inbox)
            func receive(_ count: Int) async throws {
                for number in 0..<count { _ = try await consumer.receive(from: .file(shipments[number % 2])) }
            }
            // What is made once is there by then.
            try await receive(count / 2)
            let before = try Use()
            let files = try FileManager.default.subpathsOfDirectory(atPath: inbox.string).count
            try await receive(count / 2)
            let after = try Use()
            #expect(try await OpenDescriptors.settle(at: before.descriptors) <= before.descriptors)
            #expect(after.memory < before.memory + 8 * 1024 * 1024, "\(before.memory) to \(after.memory) bytes")
            #expect(try FileManager.default.subpathsOfDirectory(atPath: inbox.string).count == files)
            #expect(try consumer.inbox.current(of: #require(StoreName("Tiny")))?.number == count)
        }
    }
}
