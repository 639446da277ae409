import Foundation
import StoreFiles
import StoreOperations
import SystemPackage
import TestSupport
import Testing

@Suite struct SupportFolderLockTests {
    private let scratch: ScratchFolder
    private let folder: SupportFolder
    private let busyHandler = BusyHandler(busyTimeout: .seconds(20))

    init() throws {
        scratch = try ScratchFolder()
        folder = StoreHome(scratch.path.appending("Recipes.sqlite")).supportFolder
    }

    private func exists(_ path: FilePath) -> Bool { (try? PlatformCalls.status(of: path)) != nil }

    private func isFree(_ folder: FilePath) throws -> Bool {
        let lock = try FolderLock.take(.exclusive, on: folder)
        return lock != nil
    }

    /// Waits for a lock in another thread, while `body` runs with the folder locked.
    private func wait(
        toPut isToPut: Bool, while body: () throws -> Void
    ) async throws -> SupportFolderLock {
        try PlatformCalls.makeFolder(folder.path)
        var held = try FolderLock.take(.exclusive, on: folder.path)
        let isHeld = held != nil
        try #require(isHeld)
        let waiting = Task(executorPreference: TestThreads.shared) { [folder, busyHandler] in
            try SupportFolderLock.take(folder, toPut: isToPut, busyHandler)
        }
        try await Task.sleep(for: .milliseconds(100))
        try body()
        held = nil
        return try await waiting.value
    }

    @Test func `a folder that is not there is made to be put into, and goes again if nothing was`() throws {
        var lock: SupportFolderLock? = try SupportFolderLock.take(folder, toPut: true, busyHandler)
        #expect(lock?.permitsRemoval == true)
        #expect(try !isFree(folder.path))
        try PlatformCalls.makeFolder(folder.path.appending("_EXTERNAL_DATA"))
        lock = nil
        #expect(!exists(folder.path))
    }

    @Test func `a folder that was made stays once something is in it, and so does one that was there`() throws {
        var lock: SupportFolderLock? = try SupportFolderLock.take(folder, toPut: true, busyHandler)
        try OpenFile.creating(folder.path.appending("note")).write([1])
        lock = nil
        try PlatformCalls.removeFile(folder.path.appending("note"))
        lock = try SupportFolderLock.take(folder, toPut: true, busyHandler)
        lock = nil
        #expect(exists(folder.path))
        #expect(try isFree(folder.path))
        _ = lock
    }

    @Test func `an empty folder that somebody put in the place of ours stays`() throws {
        let lock = try SupportFolderLock.take(folder, toPut: true, busyHandler)
        try withExtendedLifetime(lock) {
            try PlatformCalls.rename(folder.path, to: scratch.path.appending("ours"))
            try PlatformCalls.makeFolder(folder.path)
        }
        _ = consume lock
        #expect(exists(folder.path))
    }

    @Test func `what is in a folder that was not there may not be removed`() throws {
        let lock = try SupportFolderLock.take(folder, toPut: false, busyHandler)
        #expect(!lock.permitsRemoval && !exists(folder.path))
    }

    @Test func `a symbolic link is not followed`() throws {
        let real = try scratch.folder("real")
        try PlatformCalls.symbolicLink(at: folder.path, to: real)
        for isToPut in [true, false] {
            let lock = try SupportFolderLock.take(folder, toPut: isToPut, busyHandler)
            #expect(!lock.permitsRemoval)
            #expect(try isFree(real))
        }
        #expect(exists(folder.path))
    }

    @Test func `who has waited for a folder that is gone finds none`() async throws {
        let lock = try await wait(toPut: false) { try PlatformCalls.removeEmptyFolder(folder.path) }
        #expect(!lock.permitsRemoval && !exists(folder.path))
    }

    @Test func `who has waited to put something into a folder that is gone makes it anew`() async throws {
        let lock = try await wait(toPut: true) { try PlatformCalls.removeEmptyFolder(folder.path) }
        #expect(lock.permitsRemoval)
        #expect(try !isFree(folder.path))
    }

    @Test func `who has waited holds the folder that has the name now`() async throws {
        let lock = try await wait(toPut: false) {
            try PlatformCalls.rename(folder.path, to: scratch.path.appending("old"))
            try PlatformCalls.makeFolder(folder.path)
        }
        #expect(lock.permitsRemoval)
        #expect(try !isFree(folder.path))
    }

    @Test func `who gives up leaves what others have, and nothing of its own`() throws {
        let other = StoreHome(scratch.path.appending("Other.sqlite")).supportFolder
        try PlatformCalls.makeFolder(other.path)
        let held = try FolderLock.take(.exclusive, on: other.path)
        defer { withExtendedLifetime(held) {} }
        let timeout = Duration.milliseconds(50)
        #expect(throws: OperationError.supportFolderBusy(other.path, waited: timeout)) {
            try SupportFolderLock.take([(folder, true), (other, true)], BusyHandler(busyTimeout: timeout))
        }
        let stopped = BusyHandler(busyTimeout: .seconds(60))
        stopped.stop()
        #expect(throws: OperationError.stopped) {
            try SupportFolderLock.take([(other, true), (folder, true)], stopped)
        }
        #expect(exists(other.path) && !exists(folder.path))
    }

    @Test func `one folder may be asked for twice`() throws {
        let locks = try SupportFolderLock.take([(folder, true), (folder, false)], busyHandler)
        #expect(locks.map(\.permitsRemoval) == [true, true])
    }

    @Test func `nobody waits in a circle, whatever the order of the folders`() async throws {
        let other = StoreHome(scratch.path.appending("Other.sqlite")).supportFolder
        try await withThrowingTaskGroup(of: Void.self) { group in
            for folders in [[folder, other], [other, folder], [folder], [other]] {
                group.addTask(executorPreference: TestThreads.shared) { [busyHandler] in
                    for _ in 0..<100 {
                        let locks = try SupportFolderLock.take(folders.map { ($0, true) }, busyHandler)
                        for lock in locks where !lock.permitsRemoval { throw OperationError.stopped }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(!exists(folder.path) && !exists(other.path))
    }
}
