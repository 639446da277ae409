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
            status is 0 if all is whole, also where nothing of a store has become current yet.

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
                } else if finding.isAwaited {
                    Output.write("waiting  \(finding.subject)  nothing current yet")
                } else if finding.problem == nil {
                    let facts = [finding.manifest?.summary, finding.signer.map { "signed by \($0)" }]
                    Output.write(
                        "whole    \(([finding.subject] + facts.compactMap(\.self)).joined(separator: "  "))")
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
    /// Of a store in an inbox, and the folder of the generation.
    private(set) var name: String?
    private(set) var folder: String?
    /// Of a file.
    private(set) var path: String?
    let isWhole: Bool
    let error: String?
    let hint: String?
    /// Of a store of an inbox: nothing has become current yet.
    let isAwaited: Bool?
    let manifest: Manifest?
    /// The id of the device that signed a shipment.
    let signer: DeviceIdentifier?

    init(_ finding: Verification.Finding) {
        switch finding.place {
        case .file(let path): self.path = path.string
        case .generation(let name, let folder): (self.name, self.folder) = (name?.text, folder.string)
        case .store(let name): self.name = name.text
        }
        let explanation = finding.problem?.explanation
        isWhole = explanation == nil
        (error, hint) = (explanation?.cause, explanation?.hint)
        isAwaited = finding.isAwaited ? true : nil
        manifest = finding.manifest
        signer = finding.signer
    }
}
