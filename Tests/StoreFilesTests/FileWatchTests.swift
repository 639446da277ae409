import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import StoreFiles

/// Notices of changed files.
@Suite struct FileWatchTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test(arguments: 1...4) func `whatever happens to a file or a folder above it is noticed`(seed: Int) async throws {
        var random = RepeatableRandom(seed: UInt64(seed))
        let (top, path) = (scratch.path.appending("a"), scratch.path.appending("a/b/file"))
        let folder = path.removingLastComponent()
        let count = Mutex(0)
        let alone = scratch.path.appending("alone")
        let watch = try FileWatch(
            of: 2, every: .milliseconds(50), files: { [$0 == 0 ? path : alone] },
            notice: { if $0 == 0 { count.withLock { $0 += 1 } } })
        defer { withExtendedLifetime(watch) {} }
        var story: [String] = []
        for step in 0..<40 {
            let (before, seen) = (Self.state(of: path), count.withLock { $0 })
            let event =
                ["write", "write", "replace", "remove", "folder", "no folder", "move"]
                .randomElement(using: &random) ?? ""
            story.append(event)
            switch event {
            case "write":
                try Folder.make(folder)
                // In place: no name changes.
                let handle = open(path.string, O_WRONLY | O_CREAT | O_APPEND, 0o600)
                #expect(Foundation.write(handle, "x", 1) == 1)
                close(handle)
            case "replace":
                try Folder.make(folder)
                try OpenFile.creating(folder.appending("new")).write(Array("step \(step)".utf8))
                try PlatformCalls.rename(folder.appending("new"), to: path)
            case "remove": unlink(path.string)
            case "folder": try Folder.make(folder)
            case "no folder": try? Folder.removeTree(at: top)
            default:
                // A folder further up goes, and comes back.
                guard (try? PlatformCalls.rename(folder, to: scratch.path.appending("away"))) != nil else {
                    continue
                }
                try PlatformCalls.rename(scratch.path.appending("away"), to: folder)
            }
            guard Self.state(of: path) != before else { continue }
            let deadline = ContinuousClock.now + .seconds(10)
            while count.withLock({ $0 }) == seen, .now < deadline { try await Task.sleep(for: .milliseconds(2)) }
            #expect(count.withLock { $0 } > seen, "seed \(seed): \(story)")
            // Others come at once after each other, too.
            if Bool.random(using: &random) { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test(arguments: 1...4) func `a link that is set anew is noticed wherever it is on the way`(seed: Int) async throws
    {
        var random = RepeatableRandom(seed: UInt64(seed))
        let root = scratch.path
        let folders = try (0..<4).map { number in
            let folder = root.appending("folder\(number)")
            try Folder.make(folder)
            try OpenFile.creating(folder.appending("file")).write(Array("\(number)".utf8))
            return folder
        }
        // Each leads to one of the folders, or to another link that does.
        var links: [FilePath] = []
        for number in 0..<4 {
            let link = root.appending("link\(number)")
            try set(link, to: links.last ?? folders[0], anew: false, &random)
            links.append(link)
        }
        let file = root.appending("file")
        try set(file, to: links[3].appending("file"), anew: false, &random)
        let path = Bool.random(using: &random) ? file : links[3].appending("file")
        let count = Mutex(0)
        let watch = try FileWatch(of: 1, files: { _ in [path] }, notice: { _ in count.withLock { $0 += 1 } })
        defer { withExtendedLifetime(watch) {} }
        func change() throws {
            let index = links.indices.randomElement(using: &random) ?? 0
            let targets = folders + links[..<index]
            try set(links[index], to: targets.randomElement(using: &random) ?? folders[0], anew: true, &random)
        }
        for step in 0..<30 {
            // While it looks at the way, that changes. What is seen of these counts for nothing: it has to know the last way.
            for _ in 0..<(Bool.random(using: &random) ? 0 : 40) { try change() }
            try await Task.sleep(for: .milliseconds(20))
            let seen = count.withLock { $0 }
            let before = try PlatformCalls.realPath(of: path)
            try change()
            if Bool.random(using: &random) {
                let handle = open(path.string, O_WRONLY | O_APPEND)
                #expect(Foundation.write(handle, "x", 1) == 1)
                close(handle)
            } else if try PlatformCalls.realPath(of: path) == before {
                continue
            }
            let deadline = ContinuousClock.now + .seconds(10)
            while count.withLock({ $0 }) == seen, .now < deadline { try await Task.sleep(for: .milliseconds(2)) }
            try #require(count.withLock { $0 } > seen, "seed \(seed), step \(step)")
            if Bool.random(using: &random) { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    /// Makes a link, by an absolute path or a relative one; anew in one step or in two.
    private func set(
        _ link: FilePath, to target: FilePath, anew isThere: Bool, _ random: inout RepeatableRandom
    ) throws {
        let isRelative = Bool.random(using: &random)
        let place =
            isRelative
            ? FilePath("../\(scratch.path.lastComponent?.string ?? "")")
                .appending(target.components.dropFirst(scratch.path.components.count)) : target
        guard isThere, Bool.random(using: &random) else {
            if isThere { unlink(link.string) }
            return try PlatformCalls.symbolicLink(at: link, to: place)
        }
        let new = scratch.path.appending("new")
        try PlatformCalls.symbolicLink(at: new, to: place)
        try PlatformCalls.rename(new, to: link)
    }

    private static func state(of path: FilePath) -> FileStatus? { try? PlatformCalls.status(of: path) }

    @Test func `nothing is noticed while nothing happens, and an end ends it`() async throws {
        let path = scratch.path.appending("file")
        try OpenFile.creating(path).write([1])
        let count = Mutex(0)
        let watch = try FileWatch(of: 1, files: { _ in [path] }, notice: { _ in count.withLock { $0 += 1 } })
        defer { withExtendedLifetime(watch) {} }
        let deadline = ContinuousClock.now + .seconds(10)
        while count.withLock({ $0 }) == 0, .now < deadline { try await Task.sleep(for: .milliseconds(2)) }
        // A file beside it, and a read.
        try OpenFile.creating(scratch.path.appending("other")).write([1])
        _ = try OpenFile.reading(path).read(1, at: 0)
        try OpenFile.creating(scratch.path.appending("last")).write([1])
        try await Task.sleep(for: .milliseconds(100))
        #expect(count.withLock { $0 } == 1)
    }
}
