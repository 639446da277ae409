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
            status is 0 if all is whole.

              ship-store verify inbox
              ship-store verify monday.shipment
              ship-store verify Recipes.sqlite
            """)

    @Argument(help: "What to verify.", completion: .file())
    var path: String

    @OptionGroup(title: "Check options") var check: CheckArguments
    @OptionGroup(title: "Copy options") var copy: CopyArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [path, output, options = copy.copyOptions, checking = check.options] in
            let artifact = try Artifact(at: FilePath(path))
            let findings = try await Verification(options: options, checking: checking).run(on: artifact)
            for finding in findings {
                if output.json {
                    Output.write(json: FindingLine(finding))
                } else if finding.problem == nil {
                    let facts = [finding.manifest?.summary, finding.signer.map { "signed by \($0)" }]
                    Output.write((["whole    \(finding.subject)"] + facts.compactMap(\.self)).joined(separator: "  "))
                } else {
                    Output.write("damaged  \(finding.subject)")
                }
            }
            if let problem = findings.lazy.compactMap(\.problem).first { throw problem }
            if findings.isEmpty { console.say("there is nothing to verify yet") }
        }
    }
}

private struct FindingLine: Encodable {
    let subject: String
    let isWhole: Bool
    let problem: String?
    let manifest: Manifest?
    /// The id of the device that signed a shipment.
    let signer: DeviceIdentifier?

    init(_ finding: Verification.Finding) {
        subject = finding.subject
        isWhole = finding.problem == nil
        problem = finding.problem?.explanation.cause
        manifest = finding.manifest
        signer = finding.signer
    }
}
