import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// What a suspended reader has let go of stays for a while, and not for ever.
@Suite struct SuspensionMarkTests {
    private let content: InboxContent
    private let inbox: Inbox
    private let name: StoreName

    init() throws {
        content = try InboxContent()
        inbox = Inbox(at: content.root)
        name = try #require(StoreName("Recipes"))
    }

    private func installer(suspensionGrace: Duration = .seconds(60)) throws -> Installer {
        try Installer(
            inbox: inbox, keeping: Retention(count: 1, grace: .zero, suspensionGrace: suspensionGrace))
    }

    private func install(_ numbers: ClosedRange<Int>, with installer: Installer) async throws {
        for number in numbers { try await Shipment("\(number)").install(with: installer) }
    }

    /// Leaves the mark of a reader on a generation.
    private func leave(_ number: Int, start: String? = PlatformCalls.bootIdentifier) throws {
        let generation = try #require(
            content.generations.lazy.compactMap { GenerationName($0) }.first { $0.number == number })
        try inbox.open().add(SuspensionMark(of: generation, start: start), of: name)
    }

    private var marks: [SuspensionMark] { get throws { try inbox.open().suspensionMarks(of: name) } }

    @Test func `it stays, and goes by itself once the grace is over`() async throws {
        let installer = try installer(suspensionGrace: .milliseconds(600))
        try await install(1...1, with: installer)
        try leave(1)
        let start = ContinuousClock.now
        try await install(2...2, with: installer)
        #expect(content.numbers == [1, 2])
        while try content.numbers != [2] || marks != [], .now - start < .seconds(20) {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(content.numbers == [2])
        #expect(ContinuousClock.now - start >= .milliseconds(550))
        #expect(try marks == [])
    }

    @Test func `a shorter rest is waited for although a longer one is`() async throws {
        let installer = try Installer(
            inbox: inbox, keeping: Retention(count: 1, grace: .milliseconds(300), suspensionGrace: .seconds(60)))
        try await install(1...1, with: installer)
        try leave(1)
        try await install(2...3, with: installer)
        #expect(content.numbers == [1, 2, 3])
        let deadline = ContinuousClock.now + .seconds(20)
        while content.numbers != [1, 3], .now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        #expect(content.numbers == [1, 3])
    }

    @Test func `at most two stay for that reason, those that were let go of last`() async throws {
        do { try await install(1...4, with: try Installer(inbox: inbox, keeping: Retention(count: 9))) }
        for number in [3, 1, 2] {
            try leave(number)
            try await Task.sleep(for: .milliseconds(5))
        }
        let pruned = try StoreLock(of: name, in: inbox).prune(Retention(count: 1, grace: .zero))
        #expect(pruned.removed.map(\.number) == [3])
        #expect(pruned.held.map(\.number) == [1, 2])
        #expect(pruned.rest == nil)
        // The mark of what is gone goes too.
        #expect(try Set(marks.map(\.generation.number)) == [1, 2])
    }

    @Test func `marks of the time before the system's start say nothing`() async throws {
        do { try await install(1...2, with: try Installer(inbox: inbox, keeping: Retention(count: 9))) }
        try leave(1, start: "0f0f0f0f-another-start")
        try StoreLock(of: name, in: inbox).prune(Retention(count: 1, grace: .zero))
        #expect(content.numbers == [2])
        #expect(try marks == [])
    }

    @Test func `a store that a suspended reader waits for is not forgotten`() async throws {
        do { try await install(1...2, with: try installer()) }
        try leave(2)
        #expect(throws: InboxError.held(name, numbers: [2])) { try inbox.open().forget(name) }
        #expect(content.numbers == [2])
        for mark in try marks { try inbox.open().remove(mark, of: name) }
        try leave(2, start: "another")
        #expect(try inbox.open().forget(name) == [2])
    }

    @Test func `what a shipment needs the room of goes at once`() async throws {
        let installer = try installer()
        try await install(1...1, with: installer)
        try leave(1)
        try await install(2...2, with: installer)
        #expect(content.numbers == [1, 2])
        #expect(try installer.reclaimSpace())
        #expect(content.numbers == [2])
        #expect(try !installer.reclaimSpace())
    }

    @Test func `only the clock that nobody sets counts`() throws {
        let generation = try #require(GenerationName("7-3fa9c1d2"))
        let mark = SuspensionMark(of: generation, at: .seconds(100), start: "a-1")
        let again = try #require(SuspensionMark(mark.name))
        #expect(again == mark)
        #expect(again.age(at: .seconds(103), start: "a-1") == .seconds(3))
        // Another start of the system, and a time that is still to come.
        #expect(again.age(at: .seconds(103), start: "a-2") == nil)
        #expect(again.age(at: .seconds(103), start: nil) == nil)
        #expect(again.age(at: .seconds(99), start: "a-1") == nil)
        let unknown = SuspensionMark(of: generation, at: .seconds(100), start: nil)
        #expect(SuspensionMark(unknown.name)?.age(at: .seconds(101), start: nil) == .seconds(1))
    }

    @Test(arguments: [
        "", "suspended", "suspended.....", "suspended.7-3fa9c1d2.1.a.no-uuid", "left.json", "current",
        "suspended.7-3fa9c1d2.-1.a.6B29FC40-CA47-1067-B31D-00DD010662DA",
        "suspended.7-3fa9c1d2.99999999999999999999.a.6B29FC40-CA47-1067-B31D-00DD010662DA",
        "suspended.x.1.a.6B29FC40-CA47-1067-B31D-00DD010662DA",
        "suspended.7-3fa9c1d2.1.a.b.6B29FC40-CA47-1067-B31D-00DD010662DA",
        "suspended.7-3fa9c1d2.1." + String(repeating: "a", count: 250) + ".6B29FC40-CA47-1067-B31D-00DD010662DA",
    ])
    func `another name is no mark`(text: String) { #expect(SuspensionMark(text) == nil) }
}
