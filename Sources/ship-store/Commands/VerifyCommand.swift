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

              ship-store verify inbox
              ship-store verify monday.shipment
              ship-store verify Recipes.sqlite
            """)

    @Argument(help: "What to verify.", completion: .file())
    var path: FilePath

    @OptionGroup(title: "Check options") var check: CheckArguments
    @OptionGroup(title: "Copy options") var copy: CopyArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await console.run { [path, output, options = copy.copyOptions, checking = check.options] in
            let artifact = try Artifact(at: path)
            let findings = try await Verification.all(of: artifact, options: options, checking: checking)
            for finding in findings {
                if output.json {
                    Output.write(object: finding.json)
                } else if finding.isAwaited {
                    Output.write("waiting  \(finding.subject)  nothing current yet")
                } else if finding.problem == nil {
                    let facts = [finding.manifest?.summary, finding.signer.map { "signed by \($0)" }]
                    Output.write(
                        "whole    \(([finding.subject] + facts.compactMap(\.self)).joined(separator: "  "))")
                } else {
                    Output.write("\(finding.isJudged ? "damaged" : "unclear")  \(finding.subject)")
                }
            }
            if let problem = findings.lazy.compactMap(\.problem).first { throw problem }
            if findings.isEmpty { console.say("there is nothing to verify yet") }
        }
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
