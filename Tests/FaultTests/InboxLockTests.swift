import Foundation
import StoreFiles
import StoreInbox
import StoreInstall
import SystemPackage
import TestSupport
import Testing

@Suite struct InboxLockTests {
    private let scratch: ScratchFolder
    private let inbox: FilePath

    init() throws {
        scratch = try ScratchFolder()
        inbox = scratch.path.appending("inbox")
    }

    private func startReceiver() async throws -> ChildProgram {
        let receiver = try BuiltProgram.start(["receive", "--into", inbox.string, "--listen", "127.0.0.1:0"])
        _ = try await receiver.waitForLine(containing: "listening on")
        return receiver
    }

    @Test func `a second receiver is told who has the inbox, and may have it once that one was killed`() async throws {
        let receiver = try await startReceiver()
        let second = try await BuiltProgram.run(["receive", "--into", inbox.string, "--listen", "127.0.0.1:0"])
        #expect(second.status == .exited(75))
        #expect(second.stderr.contains("in use by another receiver (process \(receiver.processID))"))
        #expect(second.stderr.contains("ship-store: hint: stop that one, or receive into another folder"))
        #expect(throws: InboxError.inboxInUse(inbox, process: receiver.processID)) {
            _ = try Installer(inbox: Inbox(at: inbox), keeping: Retention(count: 1))
        }
        receiver.signal(SIGKILL)
        #expect(try await receiver.wait().status == .signalled(SIGKILL))
        let third = try await startReceiver()
        third.signal(SIGTERM)
        #expect(try await third.wait().status == .exited(0))
    }

    @Test func `one process cannot have it twice either`() throws {
        let installer = try Installer(inbox: Inbox(at: inbox), keeping: Retention(count: 1))
        #expect(throws: InboxError.inboxInUse(inbox, process: PlatformCalls.processID)) {
            _ = try Installer(inbox: Inbox(at: inbox), keeping: Retention(count: 1))
        }
        _ = installer.inbox
    }

    @Test func `a link in the place of the lock is not followed`() throws {
        try PlatformCalls.makeFolder(inbox)
        try PlatformCalls.makeFolder(inbox.appending(".ship-store"))
        let precious = scratch.path.appending("precious")
        try OpenFile.creating(precious).write([1, 2, 3])
        try PlatformCalls.symbolicLink(at: inbox.appending(".ship-store").appending(".lock"), to: precious)
        #expect(throws: InboxError.self) { _ = try Installer(inbox: Inbox(at: inbox), keeping: Retention(count: 1)) }
        #expect(try PlatformCalls.status(of: precious).size == 3)
    }
}
