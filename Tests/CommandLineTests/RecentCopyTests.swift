import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Where the disk does not clone, a sender that follows makes its copies in RAM, and writes the newest to the disk in the end.
@Suite(.serialized, .enabled("may not mount an ext4 of its own") { await LoopDisk.isAvailable(.ext4) })
struct RecentCopyTests {
    private func withDesk(_ body: (Desk) async throws -> Void) async throws {
        let place = try ScratchFolder()
        let disk = try await LoopDisk(in: place.path, .ext4)
        do { try await body(try Desk(in: ScratchFolder(in: disk.path))) }
        try await disk.remove()
    }

    @Test func `what is followed is remembered when that ends, and not at each change`() async throws {
        try await withDesk { desk in
            try desk.makeStore(rows: 2000)
            let receiver = try await desk.listen()
            let sender = try desk.follow("Recipes.sqlite", to: receiver.address)
            try await desk.arrives("Recipes", from: "Recipes.sqlite")
            _ = try await sender.waitForLine(containing: "as generation 1")
            let first = try desk.digest(of: desk["inbox/Recipes.sqlite"])
            for number in 1...3 {
                try desk.execute("INSERT INTO recipe(title) VALUES ('new \(number)')", in: "Recipes.sqlite")
                try await desk.arrives("Recipes", from: "Recipes.sqlite")
                _ = try await sender.waitForLine(containing: "as generation \(number + 1)")
                #expect(try desk.rememberedDigests.contains(first))
                #expect(try !desk.rememberedDigests.contains(desk.digest(of: desk["inbox/Recipes.sqlite"])))
            }
            let folder = try #require(sender.folderInRAM)
            #expect(try PlatformCalls.status(of: folder).permissions == .ownerReadWriteExecute)
            try await sender.stop(SIGTERM)
            #expect(try desk.rememberedDigests.contains(desk.digest(of: desk["inbox/Recipes.sqlite"])))
            #expect(try !desk.rememberedDigests.contains(first))
            #expect(try !PlatformCalls.isThere(folder))
            // The next sender builds on it.
            try desk.execute("INSERT INTO recipe(title) VALUES ('last')", in: "Recipes.sqlite")
            let last = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--json")
            let wire = try last.events().first { $0["event"] as? String == "finished" }?["wire"] as? Int
            #expect(try #require(wire) < 600)
            _ = try await receiver.stop()
            #expect(try desk.leftovers == [])
        }
    }

    @Test(arguments: 1...(Soak.isOn ? 30 : 3))
    func `whatever ends a sender, the next goes on, and only what arrived is remembered`(run: Int) async throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = RepeatableRandom(seed: seed)
        try await withDesk { desk in
            var sources = [try TickingStore(at: desk["S.sqlite"]), try TickingStore(at: desk["T.sqlite"])]
            // With the least memory only one of them fits, or none.
            let limit = ["40K", "100K", "64M"].randomElement(using: &random) ?? ""
            let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--keep", "1000")
            func follow() throws -> ChildProgram {
                try desk.follow("S.sqlite", "T.sqlite", to: receiver.address, "--settle", "50ms", "--memory", limit)
            }
            var sender = try follow()
            var (arrived, story) = (Set<ContentDigest>(), ["--memory \(limit)"])
            for _ in 0..<(Soak.isOn ? 40 : 12) {
                let event = ["change", "change", "change", "kill", "stop", "quick"].randomElement(using: &random) ?? ""
                story.append(event)
                for number in sources.indices where Bool.random(using: &random) {
                    for _ in 0..<Int.random(in: 1...40, using: &random) { try sources[number].commit() }
                }
                // Ends it at any moment.
                if event == "quick" {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &random)))
                }
                if event != "quick" {
                    for name in ["S", "T"] {
                        try await desk.arrives(name, from: "\(name).sqlite")
                        arrived.insert(try desk.digest(of: desk["inbox/\(name).sqlite"]))
                    }
                }
                guard event != "change" else { continue }
                let folder = sender.folderInRAM
                if event == "stop" {
                    // The sender hears of it a little later.
                    try await Task.sleep(for: .seconds(1))
                    try await sender.stop(SIGINT)
                } else {
                    sender.signal(SIGKILL)
                    _ = try await sender.wait()
                }
                // What is installed may have been acknowledged.
                for generation in try desk.generations { arrived.insert(try desk.digest(of: generation)) }
                let remembered = try desk.rememberedStores
                #expect(remembered.isSubset(of: arrived), "seed \(seed): \(story)")
                if event == "stop" {
                    for name in ["S", "T"] {
                        let newest = try desk.digest(of: desk["inbox/\(name).sqlite"])
                        #expect(remembered.contains(newest), "seed \(seed): \(story)")
                    }
                    if let folder { #expect(try !PlatformCalls.isThere(folder), "seed \(seed): \(story)") }
                }
                sender = try follow()
                for name in ["S", "T"] { try await desk.arrives(name, from: "\(name).sqlite") }
                // The next one removes what the last has left.
                if let folder {
                    await #expect(throws: Never.self, "seed \(seed): \(story)") {
                        try await desk.waitUntil { try !PlatformCalls.isThere(folder) }
                    }
                }
            }
            let folder = sender.folderInRAM
            try await sender.stop(SIGTERM)
            if let folder { #expect(try !PlatformCalls.isThere(folder), "seed \(seed): \(story)") }
            for source in sources.indices { try sources[source].close() }
            _ = try await receiver.stop()
            #expect(try desk.leftovers == [], "seed \(seed): \(story)")
        }
    }

    @Test func `where there is no room in RAM, copies are made on the disk`() async throws {
        try await withDesk { desk in
            try desk.makeStore(rows: 2000)
            let receiver = try await desk.listen()
            let program = [
                "unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64k full /dev/shm && exec \"$@\"", "sh",
            ]
            let arguments = ["send", "Recipes.sqlite", "--to", receiver.address, "--follow", "--json"]
            for (options, through) in [([], program), (["--memory", "0"], ["env"])] {
                let sender = try desk.start(arguments + options, through: through, input: .nothing)
                try await desk.arrives("Recipes", from: "Recipes.sqlite")
                for number in 1...2 {
                    try desk.execute("INSERT INTO recipe(title) VALUES ('new \(number)')", in: "Recipes.sqlite")
                    try await desk.arrives("Recipes", from: "Recipes.sqlite")
                    let newest = try desk.digest(of: desk["inbox/Recipes.sqlite"])
                    try await desk.waitUntil { try desk.rememberedDigests.contains(newest) }
                }
                try await sender.stop(SIGTERM)
            }
            _ = try await receiver.stop()
            #expect(try desk.leftovers == [])
        }
    }

    @Test func `of several receivers each is remembered`() async throws {
        try await withDesk { desk in
            try desk.makeStore(rows: 500)
            let sender = try desk.start(
                "send", "Recipes.sqlite", "--listen", "127.0.0.1:0", "--insecure", "--follow", "--json")
            let line = try await sender.waitForLine(containing: "listening on ")
            let address = String(line.trimmingPrefix("listening on "))
            let receivers = try ["one", "two"].map {
                try desk.start("receive", "--into", $0, "--from", address, "--follow")
            }
            for number in 1...4 {
                for inbox in ["one", "two"] {
                    try await desk.arrives("Recipes", in: inbox, from: "Recipes.sqlite")
                }
                try desk.execute("INSERT INTO recipe(title) VALUES ('new \(number)')", in: "Recipes.sqlite")
            }
            for inbox in ["one", "two"] { try await desk.arrives("Recipes", in: inbox, from: "Recipes.sqlite") }
            let folder = try #require(sender.folderInRAM)
            for receiver in receivers {
                receiver.signal(SIGTERM)
                _ = try await receiver.wait()
            }
            try await sender.stop(SIGTERM)
            #expect(try !PlatformCalls.isThere(folder))
            #expect(try desk.rememberedDigests.contains(desk.digest(of: desk["one/Recipes.sqlite"])))
            let bases = try await desk.run("bases", "--json")
            #expect(bases.lines.count >= 1, "\(bases.stdout)")
            #expect(try desk.leftovers == [])
        }
    }
}

extension Desk {
    fileprivate func follow(_ stores: String..., to address: String, _ options: String...) throws -> ChildProgram {
        try start(["send"] + stores + ["--to", address, "--follow", "--json"] + options)
    }

    fileprivate func digest(of path: FilePath) throws -> ContentDigest {
        try ContentDigest(ofFile: try PlatformCalls.realPath(of: path))
    }

    /// Of all files of the memory. A sender at work may remove some meanwhile.
    fileprivate var rememberedDigests: Set<ContentDigest> {
        get throws { Set(objects.compactMap { try? digest(of: $0) }) }
    }

    /// Of its copies.
    fileprivate var rememberedStores: Set<ContentDigest> {
        get throws {
            try Set(
                objects.filter { try OpenFile.reading($0).read(6, at: 0) == Array("SQLite".utf8) }.map {
                    try digest(of: $0)
                })
        }
    }

    private var objects: [FilePath] {
        let folder = memory.appending("objects")
        return ((try? Folder.names(in: folder)) ?? []).map { folder.appending($0) }
    }

    /// Of all stores of the inbox.
    fileprivate var generations: [FilePath] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: self["inbox"].string).map {
                self["inbox"].appending($0)
            }
            .filter { try $0.extension == "sqlite" && PlatformCalls.status(of: $0).kind == .file }
        }
    }
}

extension ChildProgram {
    fileprivate func stop(_ signal: Int32) async throws {
        try await signalOnceReady(signal)
        let outcome = try await wait(timeout: .seconds(20))
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
    }

    /// Its private folder in RAM, which it holds open to lock it.
    fileprivate var folderInRAM: FilePath? {
        let folder = "/proc/\(processID)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.lazy.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
            .map { FilePath($0) }.first {
                $0.removingLastComponent() == "/dev/shm" && $0.lastComponent?.string.hasPrefix("ship-store-") == true
            }
    }
}
