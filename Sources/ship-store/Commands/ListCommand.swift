import ArgumentParser
import ShipStore
import SystemPackage

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the stores of an inbox and their generations.",
        discussion: """
            The current generation is marked with a *. Each line has the name, the generation, when the copy was taken, its \
            size and the beginning of its digest; then when it was installed, what its reader must know, and whether it is \
            held by a reader or was rolled back.

              ship-store list --into inbox
              ship-store list --into inbox --json
            """)

    @Option(help: ArgumentHelp("The inbox.", valueName: "folder"), completion: .directory)
    var into: String

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [into, output] in
            let lines = try InboxListing.entries(of: Inbox(at: FilePath(into))).map(GenerationLine.init)
            if output.json {
                lines.forEach { Output.write(json: $0) }
            } else {
                lines.forEach { Output.write($0.text) }
                if lines.isEmpty { console.say("no store has been installed yet") }
            }
        }
    }
}

private struct GenerationLine: Encodable {
    let name: String
    let generation: Int
    let isCurrent: Bool
    let createdAt: String
    let installedAt: String
    /// Whether a reader holds it; left out if that cannot be told.
    let isHeld: Bool?
    /// When it was rolled back; left out if it was not, or is welcome again.
    let rolledBackAt: String?
    /// Bytes of the store, and of its external files.
    let size: Int64
    let externalFiles: Int
    let sha256: String
    /// The id of the device that made it, where that was proven, and its number of it.
    let producer: DeviceIdentifier?
    let counter: UInt64?
    let identity: String?
    let applicationID: Int32
    let userVersion: Int32
    let schemaSHA256: String
    /// Entity name to version hash, of a Core Data store.
    let entityVersionHashes: [String: String]?
    /// Of the generation.
    let folder: String
    /// Of the store in it.
    let path: String
    let metadata: [String: String]

    init(_ entry: InboxListing.Entry) {
        let (generation, manifest) = (entry.generation, entry.generation.manifest)
        name = manifest.name.text
        self.generation = generation.number
        isCurrent = entry.isCurrent
        createdAt = manifest.createdAt.text
        installedAt = entry.installedAt.text
        isHeld = entry.isHeld
        rolledBackAt = entry.rolledBackAt?.text
        size = manifest.totalSize
        externalFiles = manifest.externalFiles.count
        sha256 = manifest.store.sha256.hex
        producer = entry.producer
        counter = entry.counter
        identity = manifest.identity
        applicationID = manifest.store.applicationID
        userVersion = manifest.store.userVersion
        schemaSHA256 = manifest.store.schemaSHA256.hex
        entityVersionHashes = manifest.coreData?.entityVersionHashes
        folder = generation.path.string
        path = generation.storePath.string
        metadata = manifest.metadata
    }

    var text: String {
        let facts = entityVersionHashes.map { "\($0.count) entities" } ?? "user_version \(userVersion)"
        let fields =
            [
                name, "\(generation)", createdAt, Figures.bytes(size),
                externalFiles == 0 ? nil : "\(externalFiles) external", String(sha256.prefix(12)),
                "installed \(installedAt)", facts, isHeld == true ? "held" : nil,
                rolledBackAt.map { "rolled back \($0)" },
            ].compactMap(\.self) + metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\(Printable.text($0.value))" }
        return "\(isCurrent ? "*" : " ") \(fields.joined(separator: "  "))"
    }
}
