import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// What an inbox notes of shipments that fail.
@Suite struct FailureNoteTests {
    private let inbox: InboxContent

    init() throws { inbox = try InboxContent() }

    private var record: FailureRecord { get throws { try Inbox(at: inbox.root).open().failureRecord } }
    private var file: FilePath { inbox.root.appending(".ship-store").appending(".failed") }

    private func name(_ number: Int) throws -> StoreName { try #require(StoreName("Store\(number)")) }

    @Test func `it is bounded, the oldest go, and a success takes its own`() throws {
        let installer = try inbox.installer()
        let long = PrintableText("\(String(repeating: "ü", count: 100_000))")
        for number in 0..<(FailureRecord.longest + 10) {
            installer.noteFailure(of: try name(number), "no-space", long, hint: long)
        }
        let failures = try record.failures
        #expect(failures.map(\.name) == (try (10..<(FailureRecord.longest + 10)).map(name)))
        #expect(try PlatformCalls.status(of: file).size < 1 << 20)
        installer.noteSuccess(of: try name(5))
        #expect(try record.failures == failures)
        installer.noteSuccess(of: try name(20))
        #expect(try record.failures == failures.filter { $0.name.text != "Store20" })
        for failure in failures { installer.noteSuccess(of: failure.name) }
        #expect(try Folder.names(in: file.removingLastComponent()) == [".format", ".lock"])
    }

    @Test func `sessions side by side lose none of each other's`() async throws {
        let installer = try inbox.installer()
        let names = try (0..<40).map(name)
        await withTaskGroup { group in
            for name in names { group.addTask { installer.noteFailure(of: name, "busy", "it was busy", hint: nil) } }
        }
        #expect(Set(try record.failures.map(\.name)) == Set(names))
    }

    @Test func `neither do a receiver and another process`() async throws {
        let installer = try inbox.installer()
        let (old, new) = (try (0..<20).map(name), try (20..<40).map(name))
        for name in old { installer.noteFailure(of: name, "busy", "it was busy", hint: nil) }
        let root = inbox.root
        try await withThrowingTaskGroup { group in
            group.addTask { for name in new { installer.noteFailure(of: name, "busy", "it was busy", hint: nil) } }
            group.addTask {
                let folder = try Inbox(at: root).open()
                for name in old { #expect(folder.removeFailure(of: name)) }
            }
            try await group.waitForAll()
        }
        #expect(Set(try record.failures.map(\.name)) == Set(new))
    }

    @Test func `the first of a row of failures is remembered`() throws {
        let name = try name(1)
        let first = FailureRecord.empty.adding(
            name, "busy", "a", hint: nil, at: Timestamp(Date(timeIntervalSince1970: 1)))
        let second = first.adding(name, "damaged", "b", hint: "c", at: Timestamp(Date(timeIntervalSince1970: 9)))
        #expect(second.failures.count == 1)
        let failure = try #require(second.failures.first)
        #expect(failure.since.date.timeIntervalSince1970 == 1 && failure.at.date.timeIntervalSince1970 == 9)
        #expect(failure.code == "damaged" && failure.hint == "c")
        #expect(second.removing(name) == .empty)
    }

    @Test(arguments: ["", "{", #"{"failures":[{"name":"../x"}]}"#, String(repeating: " ", count: 2 << 20)])
    func `a damaged one counts as none, and the next takes its place`(text: String) throws {
        let installer = try inbox.installer()
        try Data(text.utf8).write(to: URL(fileURLWithPath: file.string))
        #expect(try record == .empty)
        installer.noteSuccess(of: try name(1))
        installer.noteFailure(of: try name(2), "busy", "it was busy", hint: nil)
        #expect(try record.failures.map(\.name.text) == ["Store2"])
    }

    @Test func `what is no file in its place is no reason to fail`() throws {
        let installer = try inbox.installer()
        try Folder.make(file.appending("x"))
        installer.noteFailure(of: try name(2), "busy", "it was busy", hint: nil)
        #expect(try record == .empty)
        #expect(try Folder.names(in: file.removingLastComponent()) == [".failed", ".format", ".lock"])
    }
}
