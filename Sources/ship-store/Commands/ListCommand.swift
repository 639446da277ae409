import ArgumentParser
import ShipStore
import SystemPackage

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the stores of an inbox and their generations.",
        discussion: """
            One line a generation, under headings; the current one is marked with a *: its name and number, when the copy was \
            taken, its size, how many external files it has and the beginning of its digest; then when it was installed, what \
            its reader must know, whether it is held by a reader, stays for a sender that was told of it (`ship-store holdings`) or was \
            rolled back, and its metadata. Below them, what broke off \
            on its way in and waits for the rest, for a day at most.

              ship-store list --into inbox
              ship-store list --into inbox --json
            """)

    @Option(help: ArgumentHelp("The inbox.", valueName: "folder"), completion: .directory)
    var into: String

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [into, output] in
            let inbox = Inbox(at: FilePath(into))
            let lines = try InboxListing.entries(of: inbox).map(GenerationLine.init)
            let waiting = try InboxListing.waiting(in: inbox).map(WaitingLine.init)
            if output.json {
                lines.forEach { Output.write(json: $0) }
                waiting.forEach { Output.write(json: $0) }
            } else {
                TextColumns(lines.map(\.fields), under: GenerationLine.headings).lines.forEach(Output.write)
                if lines.isEmpty { console.say("no store has been installed yet") }
                waiting.map(\.text).forEach(Output.write)
            }
        }
    }
}

/// A shipment that broke off.
private struct WaitingLine: Encodable {
    let name: String
    let unfinished: Shipment

    struct Shipment: Encodable {
        let createdAt: String
        /// Of the store and its external files.
        let size: Int64
        let sha256: String
        /// That have come.
        let bytes: Int64
        let since: String
        let producer: DeviceIdentifier?
    }

    init(_ entry: InboxListing.Waiting) {
        name = entry.manifest.name.text
        unfinished = Shipment(
            createdAt: entry.manifest.createdAt.text, size: entry.manifest.totalSize,
            sha256: entry.manifest.store.sha256.hex, bytes: entry.bytes, since: entry.since.text,
            producer: entry.producer)
    }

    var text: PrintableText {
        "\(name): a shipment of \(unfinished.createdAt) broke off; \(Figures.bytes(unfinished.bytes)) of it have come, and wait"
            + " since \(unfinished.since) for the rest"
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
    /// Until when it stays for a sender that was told of it; left out if none was.
    let leasedUntil: String?
    /// When it was rolled back; left out if it was not, or is welcome again.
    let rolledBackAt: String?
    /// Bytes of the store, and of its external files.
    let size: Int64
    let externalFiles: Int
    let sha256: String
    /// The id of the device that made it, where that was proven, and its number of it.
    let producer: DeviceIdentifier?
    let counter: UInt64?
    let identity: ForeignText?
    let applicationID: Int32
    let userVersion: Int32
    let schemaSHA256: String
    /// Entity name to version hash, of a Core Data store.
    let entityVersionHashes: [ForeignText: String]?
    /// Of the generation.
    let folder: String
    /// Of the store in it.
    let path: String
    let metadata: [String: ForeignText]

    init(_ entry: InboxListing.Entry) {
        let (generation, manifest) = (entry.generation, entry.generation.manifest)
        name = manifest.name.text
        self.generation = generation.number
        isCurrent = entry.isCurrent
        createdAt = manifest.createdAt.text
        installedAt = entry.installedAt.text
        isHeld = entry.isHeld
        leasedUntil = entry.leasedUntil?.text
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

    static let headings: [TextColumns.Heading] = [
        .left(""), .left("name"), .right("generation"), .left("copied"), .right("size"), .right("external"),
        .left("digest"), .left("installed"), .left("reader"), .left("state"), .left("metadata"),
    ]

    var fields: [String] {
        let state = [
            isHeld == true ? "held" : nil, leasedUntil.map { "held until \($0)" },
            rolledBackAt.map { "rolled back \($0)" },
        ].compactMap(\.self)
        return [
            isCurrent ? "*" : "", name, "\(generation)", createdAt, Figures.bytes(size),
            externalFiles == 0 ? "" : "\(externalFiles)", String(sha256.prefix(12)), installedAt,
            entityVersionHashes.map { "\($0.count) entities" } ?? "user_version \(userVersion)",
            state.joined(separator: ", "),
            metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "),
        ]
    }
}
