import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What `receive` and `send` tell programs that watch over them: `--metrics`, `--log-format`, and lines that have a time.
@Suite struct MonitoringTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore()
        try desk.makeStore("Other.sqlite", rows: 9)
    }

    // MARK: Figures

    /// One figure of a file, by its name and its labels as they stand there.
    private func figures(in file: String) throws -> [String: Double] {
        try Self.figures(of: String(contentsOfFile: desk[file].string, encoding: .utf8))
    }

    /// Reads Prometheus' text format as strictly as its specification is: each family has its HELP and its TYPE once, before its samples, which
    /// stand together; names, labels and values are well-formed, and no sample comes twice.
    private static func figures(of text: String) throws -> [String: Double] {
        var (figures, types, family): ([String: Double], [String: String], String) = ([:], [:], "")
        #expect(text.hasSuffix("\n"))
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if let help = line.wholeMatch(of: /# HELP ([a-z_]+) \S.*/) {
                family = String(help.1)
                #expect(types[family] == nil, "\(family) twice")
            } else if let type = line.wholeMatch(of: /# TYPE ([a-z_]+) (counter|gauge)/) {
                #expect(type.1 == family)
                types[family] = String(type.2)
                #expect(family.hasSuffix("_total") == (type.2 == "counter"), "\(family)")
            } else {
                let sample = try #require(
                    line.wholeMatch(
                        of:
                            /(([a-z_]+)(?:\{[a-z]+="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-z]+="(?:[^"\\\n]|\\[\\"n])*")*\})?) (\S+)/
                    ),
                    "\(line)")
                #expect(sample.2 == family && types[family] != nil, "\(line)")
                let value = try #require(Double(sample.3), "\(line)")
                #expect(figures.updateValue(value, forKey: String(sample.1)) == nil, "\(line)")
            }
        }
        return figures
    }

    @Test func `a receiver counts what came, what failed and when`() async throws {
        let start = Date().timeIntervalSince1970
        let receiver = try await desk.listen(
            on: "127.0.0.1:0", into: "inbox", "--metrics", "receiver.prom", "--max-store", "1M", "--json")
        #expect(try figures(in: "receiver.prom").keys.contains(#"ship_store_build_info{version="0.1.0"}"#))
        for _ in 0..<2 {
            try await desk.run("send", "Recipes.sqlite", "Other.sqlite", "--to", receiver.address).expectSuccess()
        }
        try desk.makeLargeStore()
        #expect(try await desk.run("send", "Large.sqlite", "--to", receiver.address).status == .exited(73))
        try await desk.waitUntil {
            try figures(in: "receiver.prom")[#"ship_store_failures_total{store="Large",code="too-large"}"#] == 1
        }
        let stopped = try await receiver.stop()
        let counted = try figures(in: "receiver.prom")
        let finished = try stopped.events().filter { $0["event"] as? String == "finished" }
        for name in ["Recipes", "Other"] {
            func figure(_ kind: String) -> Double? { counted["ship_store_\(kind){store=\"\(name)\"}"] }
            #expect(figure("shipments_total") == 2 && figure("installs_total") == 1 && figure("generation") == 1)
            #expect((start...(start + 60)).contains(figure("last_success_timestamp_seconds") ?? 0))
            #expect((200...20_000).contains(figure("received_bytes_total") ?? 0))
            let seconds = finished.filter { $0["name"] as? String == name }.compactMap { $0["seconds"] as? Double }
            #expect(abs((figure("shipment_seconds_total") ?? 0) - seconds.reduce(0, +)) < 1e-6)
        }
        #expect(counted[#"ship_store_shipments_total{store="Large"}"#] == 0)
        #expect(counted.keys.count { $0.contains("failures_total") } == 1)
        #expect(try desk.leftovers == [])

        // What the inbox has is told by the next receiver from its start.
        let next = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--metrics", "receiver.prom")
        let again = try figures(in: "receiver.prom")
        #expect(again[#"ship_store_generation{store="Recipes"}"#] == 1)
        #expect(again[#"ship_store_last_success_timestamp_seconds{store="Recipes"}"#] ?? 0 > start - 1)
        #expect(again[#"ship_store_shipments_total{store="Recipes"}"#] == 0)
        _ = try await next.stop()
    }

    @Test func `a sender that follows counts, and its receiver knows the age`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--metrics", "receiver.prom")
        let sender = try desk.start(
            "send", "Recipes.sqlite", "--to", receiver.address, "--follow", "--metrics", "sender.prom")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        try desk.execute("INSERT INTO recipe(title) VALUES ('Bread')", in: "Recipes.sqlite")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        try await desk.waitUntil {
            try figures(in: "sender.prom")[#"ship_store_installs_total{store="Recipes"}"#] == 2
        }
        try await desk.waitUntil(within: .seconds(30)) {
            let age = try figures(in: "receiver.prom")[#"ship_store_age_seconds{store="Recipes"}"#]
            return age.map { (0..<30).contains($0) } ?? false
        }
        let watched = try desk.start("watch", "--into", "inbox", "--json")
        let current = try await watched.waitForLine(containing: #""current""#, on: .output)
        #expect(current.contains(#""age":"#) && current.contains(#""isConnected":true"#))
        watched.signal(SIGTERM)
        try await watched.wait().expectOutput(of: "watch")
        // Whoever asks for a store that is held gets nothing newer.
        try await desk.run("rollback", "Recipes", "--into", "inbox").expectSuccess()
        #expect(try await !desk.run("list", "--into", "inbox").expectSuccess().stdout.contains("connected"))
        let old = try await desk.run("verify", "inbox", "--max-age", "1h")
        #expect(
            old.status == .exited(79) && old.stderr.contains("or it is held: see `ship-store status"), "\(old.stderr)")
        try await desk.run("rollback", "Recipes", "--into", "inbox", "--release").expectSuccess()
        _ = try await receiver.stop()
        try await desk.waitUntil { try figures(in: "sender.prom")["ship_store_disconnections_total"] ?? 0 > 0 }
        sender.signal(SIGTERM)
        #expect(try await sender.wait().status == .exited(0))
        #expect(try figures(in: "sender.prom")[#"ship_store_sent_bytes_total{store="Recipes"}"#] ?? 0 > 200)
    }

    /// Who reads it at any moment has all of it, and what is somebody else's stays.
    @Test func `the file is replaced in one step, and no other file is`() async throws {
        try await desk.run("send", "Recipes.sqlite", "--to", "./1.shipment", "--metrics", "m.prom").expectSuccess()
        try PlatformCalls.changeMode(of: desk["m.prom"], to: [.ownerReadWrite, .otherRead])
        let open = try FileHandle(forReadingFrom: URL(fileURLWithPath: desk["m.prom"].string))
        try await desk.run("send", "Other.sqlite", "--to", "./1.shipment", "--metrics", "m.prom").expectSuccess()
        let before = try #require(try open.readToEnd().map { String(decoding: $0, as: UTF8.self) })
        #expect(try Self.figures(of: before)[#"ship_store_shipments_total{store="Recipes"}"#] == 1)
        #expect(try figures(in: "m.prom")[#"ship_store_shipments_total{store="Other"}"#] == 1)
        #expect(try PlatformCalls.status(of: desk["m.prom"]).permissions == [.ownerReadWrite, .otherRead])
        try await desk.shell("cp Other.sqlite Other.db").expectSuccess()
        let store = try Data(contentsOf: URL(fileURLWithPath: desk["Other.db"].string))
        let refused = try await desk.run("send", "Recipes.sqlite", "--to", "./2.shipment", "--metrics", "Other.db")
        refused.expectFailure(
            73, "cannot rename Other.db: File exists",
            hint: "something of that name is there: choose another, or move it away")
        #expect(try Data(contentsOf: URL(fileURLWithPath: desk["Other.db"].string)) == store)
        let nowhere = try await desk.run("receive", "--into", "inbox", "--once", "--metrics", "none/m.prom")
        #expect(nowhere.status == .exited(66))
        let rehearsal = ["send", "Recipes.sqlite", "--to", "./2.shipment", "--dry-run", "--metrics", "m.prom"]
        #expect(try await desk.run(rehearsal).status == .exited(64))
    }

    /// By Prometheus' own parser, where it is installed.
    @Test func `Prometheus reads it`() async throws {
        try await desk.run("send", "Recipes.sqlite", "--to", "./1.shipment", "--metrics", "m.prom").expectSuccess()
        let script = """
            import sys
            try:
                from prometheus_client.parser import text_string_to_metric_families as families
            except ImportError:
                sys.exit(3)
            print(sorted(s.name for f in families(open("m.prom").read()) for s in f.samples))
            """
        let names = try figures(in: "m.prom").keys.map { $0.prefix { $0 != "{" } }.sorted()
        for python in ["python3", "/usr/bin/python3"] {
            let outcome = try await ChildProgram("/usr/bin/env", [python, "-c", script], in: desk.path).wait()
            guard outcome.status != .exited(3), outcome.status != .exited(127) else { continue }
            #expect(outcome.stdout == "[\(names.map { "'\($0)'" }.joined(separator: ", "))]\n", "\(outcome.stderr)")
        }
    }

    // MARK: Lines

    /// The objects on standard error, each as the schema says.
    private func log(_ outcome: ChildProgram.Outcome) throws -> [[String: Any]] {
        let schema = try OutputSchema()
        return try outcome.stderr.split(separator: "\n").map { line in
            let object = try #require(
                try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
            #expect(schema.faults(in: object, of: "log") == [], "\(line)")
            return object
        }
    }

    @Test func `a mistake in the command line is an object too`() async throws {
        for words in [["--log-format", "json"], ["--log-format=json"]] {
            let outcome = try await desk.run(["receive", "--nonsense"] + words)
            #expect(outcome.status == .exited(64))
            let lines = try log(outcome)
            #expect(lines.count == 1 && lines.first?["level"] as? String == "error" && lines.first?["hint"] != nil)
        }
    }

    @Test func `lines as objects tell three senders at once apart`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--max-store", "100k")
        let logging = try desk.start(
            "receive", "--into", "other", "--listen", "127.0.0.1:0", "--max-store", "100k", "--log-format", "json")
        let listening = try await logging.waitForLine(containing: #""listening""#)
        let address = try #require(listening.firstMatch(of: /listening on ([0-9.:]+)/)?.1)
        try desk.makeLargeStore("Third.sqlite")
        let stores = ["Recipes", "Other", "Third"]
        for target in [receiver.address, String(address)] {
            let senders = try stores.map {
                try desk.start("send", "\($0).sqlite", "--to", target, "--log-format", "json")
            }
            for (sender, store) in zip(senders, stores) {
                let outcome = try await sender.wait()
                #expect(outcome.status == .exited(store == "Third" ? 73 : 0))
                let lines = try log(outcome)
                #expect(lines.contains { $0["store"] as? String == store && $0["peer"] as? String == target })
                let last = try #require(lines.last)
                #expect(last["level"] as? String == (store == "Third" ? "error" : "info"))
                #expect((last["hint"] != nil) == (store == "Third"))
            }
        }
        logging.signal(SIGTERM)
        let lines = try log(try await logging.wait())
        #expect(lines.first?["event"] as? String == "listening" && lines.first?["session"] == nil)
        for store in stores {
            let own = lines.filter { $0["store"] as? String == store }
            #expect(own.map { $0["event"] as? String } == ["offered", store == "Third" ? "failed" : "finished"])
            #expect(Set(own.map { $0["session"] as? Int }).count == 1 && own.allSatisfy { $0["session"] is Int })
            #expect(Set(own.map { $0["peer"] as? String }).count == 1)
        }
        #expect(Set(lines.compactMap { $0["session"] as? Int }) == [1, 2, 3])

        // For people the same stands before the words.
        let words = try await receiver.stop().stderr
        let stamped = words.matches(
            of:
                /(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \[(\d) 127\.0\.0\.1:(\d+)\] (receiving|installed|not installed)/
        )
        #expect(stamped.count == 6 && Set(stamped.map(\.1)).count == 3 && Set(stamped.map(\.2)).count == 3)
        #expect(words.hasPrefix("listening on "))
    }

    @Test func `what somebody else wrote cannot forge a line, and quiet is quiet`() async throws {
        let receiver = try await desk.listen()
        let refusal = try await desk.run(
            "send", "Recipes.sqlite", "--name", "A", "--to", receiver.address, "--log-format", "json", "-q")
        #expect(refusal.status == .exited(0) && refusal.stderr == "")
        let none = try await desk.run("send", "no\nsuch.sqlite", "--to", receiver.address, "--log-format", "json", "-q")
        let lines = try log(none)
        #expect(lines.count == 1 && lines.first?["event"] as? String == "error" && lines.first?["hint"] is String)
        _ = try await receiver.stop()
    }
}
