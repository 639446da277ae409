import Foundation
import RandomStores
import TestSupport

/// A process's share of the work: from one seed on until its time is over, or one case that lies in a file.
struct CodecWork: Codable, Sendable {
    /// After so many there is enough to look at.
    static let failureLimit = Soak.isOn ? 30 : 3

    let folder: String
    var seed: UInt64
    var seconds = 0.0
    private var isOneCase = false

    init(folder: String, seed: UInt64) { (self.folder, self.seed) = (folder, seed) }

    var onOneCase: CodecWork {
        var work = self
        work.isOneCase = true
        return work
    }

    func file(_ name: String) -> URL { URL(fileURLWithPath: folder).appending(path: name) }

    /// The seed that was begun last.
    var current: UInt64? { (try? String(contentsOf: file("seed"), encoding: .utf8)).flatMap { UInt64($0) } }

    func run() async throws {
        // What traps is to end at once.
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
        guard !isOneCase else {
            _ = await Self.failure(of: try RandomCase(json: Data(contentsOf: file("case"))))
            return
        }
        let end = ContinuousClock.now + .seconds(seconds)
        var (seed, failures) = (seed, 0)
        while failures < Self.failureLimit {
            try Data("\(seed)".utf8).write(to: file("seed"))
            let made = RandomCase(seed: seed)
            if let failure = await Self.failure(of: made) {
                failures += 1
                let kind = Self.kind(of: failure)
                let small = try await made.shrunk(until: .now + .seconds(30)) { smaller in
                    await Self.failure(of: smaller).map { Self.kind(of: $0) == kind } ?? false
                }
                let words = await Self.failure(of: small) ?? failure
                try Data(try story(seed, small, words).utf8).write(to: file("failure-\(seed)"))
            }
            guard .now < end, !RandomSeeds.isOne else { return }
            seed += 1
        }
    }

    private static func failure(of made: RandomCase) async -> String? {
        do {
            try await CodecCheck(isThorough: Soak.isOn).check(made)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// What stays the same of a failure while a case shrinks.
    private static func kind(of failure: String) -> String { failure.filter { !$0.isNumber } }

    func takeFailures() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("failure") }.sorted().map {
            name in
            let words = try String(contentsOf: file(name), encoding: .utf8)
            try FileManager.default.removeItem(at: file(name))
            return words
        }
    }

    /// What happened, to which store: a long one is left in a file.
    func story(_ seed: UInt64, _ made: RandomCase, _ words: String) throws -> String {
        let sql = made.sql
        guard sql.utf8.count > 4000 else { return "seed \(seed): \(words)\n\(sql)" }
        let path = NSTemporaryDirectory() + "random-store-\(seed).sql"
        try Data(sql.utf8).write(to: URL(fileURLWithPath: path))
        return "seed \(seed): \(words); the store is in \(path)"
    }
}
