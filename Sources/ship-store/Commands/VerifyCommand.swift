import ArgumentParser
import ShipStore
import SystemPackage

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Say whether an inbox, a generation, a shipment file or a store is whole.",
        usage: "ship-store verify <path> [<options>]",
        discussion: """
            Reads everything again: sizes, digests, SQLite's own checks, external files. Nothing is changed. The exit \
            status is 0 if all is whole, also where nothing of a store has become current yet. What is not whole is \
            damaged, or unclear: it cannot be told without the functions of its app, say, or while a journal waits.

            With --max-age, how old the copies in an inbox are, too: a receiver that is connected to a sender that follows the store asks \
            it. The exit status is 79 if a copy is older, or its age is unknown, and 66 if nothing has become current yet.

              ship-store verify inbox
              ship-store verify inbox --max-age 10m
              ship-store verify monday.shipment
              ship-store verify Recipes.sqlite
            """)

    @Argument(help: "What to verify.", completion: .file())
    var path: FilePath

    @Option("Of an inbox: fail if a copy is older than this: 90s, 15m, 12h, 7d or 2w.", .age) var maxAge: Duration?

    @OptionGroup(title: "Check options") var check: CheckArguments
    @OptionGroup(title: "Copy options") var copy: CopyArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    /// The kind of thing at the path: with --max-age, an inbox.
    private func artifact() throws -> Artifact {
        let found = Result { () throws(ShipmentError) in try Artifact(at: path) }
        guard maxAge != nil else { return try found.get() }
        switch found {
        case .success(.generation), .success(.shipment), .success(.store), .failure(.source(.folder)):
            throw ValidationError("--max-age is for an inbox, the folder of `receive --into`, and \(path) is none")
        case .success(.inbox), .failure: return try found.get()
        }
    }

    func run() async throws {
        try await output.run { [self, maxAge, output, options = copy.copyOptions, checking = check.options] console in
            let artifact = try artifact()
            let findings = try await Verification.all(of: artifact, options: options, checking: checking)
            for finding in findings {
                if output.json {
                    Output.write(finding.json)
                } else if finding.isAwaited {
                    Output.write("waiting  \(finding.subject)  nothing current yet")
                } else if finding.problem == nil {
                    let facts = [finding.manifest?.summary, finding.signer.map { "signed by \($0)" }]
                    Output.write("whole    \(([finding.subject] + facts.compactMap(\.self)).joined(separator: "  "))")
                } else {
                    Output.write("\(finding.isJudged ? "damaged" : "unclear")  \(finding.subject)")
                }
            }
            let tooOld =
                if let maxAge {
                    try await ShipmentError.awaiting { try await ages(within: maxAge, output) }
                } else {
                    nil as ShipmentError?
                }
            if let problem = findings.lazy.compactMap(\.problem).first { throw problem }
            if let tooOld { throw tooOld }
            if maxAge != nil, let awaited = findings.first(where: \.isAwaited) {
                throw ShipmentError.serving(.noSuchStore(awaited.subject))
            }
            guard findings.isEmpty else { return }
            guard maxAge == nil else { throw ShipmentError.serving(.notOneStore(count: 0)) }
            console.say("there is nothing to verify yet")
        }
    }

    /// Tells how old each store of an inbox is.
    ///
    /// - Returns: Why the first one is too old.
    private func ages(within limit: Duration, _ output: OutputOptions) async throws -> ShipmentError? {
        let coordinator = StoreCoordinator(inbox: path)
        var first: ShipmentError?
        for name in try coordinator.stores {
            var (age, problem): (CopyAge, ShipmentError?)
            do {
                (age, problem) = (try await coordinator.asOf(.named(name), noOlderThan: limit), nil)
            } catch CoordinatorError.tooOld(let name, let found, let limit) {
                (age, problem) = (found, .serving(.tooOld(name, found, limit: limit)))
            } catch CoordinatorError.noSuchStore {
                // What was current is gone, or the store is: the findings say so.
                continue
            }
            first = first ?? problem
            output.write([
                "name": name.text, "age": age.age?.inWholeSeconds, "isConnected": age.isConnected,
                "isTooOld": problem != nil,
            ]) { Output.write("\(problem == nil ? "young " : "too old")  \(name)  \(age.inWords)") }
        }
        return first
    }
}

extension Verification {
    fileprivate var json: JSONObject {
        let what: JSONObject = [
            "isWhole": problem == nil, "isJudged": isJudged, "error": problem?.cause.text, "hint": problem?.hint?.text,
            // Of a store of an inbox: nothing has become current yet.
            "isAwaited": isAwaited ? true : nil, "manifest": manifest,
            // The id of the device that signed a shipment.
            "signer": signer,
        ]
        return switch place {
        case .file(let path): what.adding(["path": path.text])
        // Of a store in an inbox, and the folder of the generation.
        case .generation(let name, let folder): what.adding(["name": name?.text, "folder": folder.text])
        case .store(let name): what.adding(["name": name.text])
        }
    }
}
