import ArgumentParser
import ShipStore
import SystemPackage

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the stores of an inbox and their generations.",
        discussion: """
            Two lines a generation, under headings; the current one is marked with a *: its name and number, when the copy was \
            taken, its size, how many external files it has and the beginning of its digest; below that when it was installed, what \
            its reader must know, how old it is if its sender follows the store, whether it is held by a reader, stays for a sender that was told of it (`ship-store holdings`), was \
            rolled back, or holds the store since a rollback, and its metadata. Below them, what broke off \
            on its way in and waits for the rest, for a day at most.

              ship-store list --into inbox
              ship-store list --into inbox --json
            """)

    @Option("The inbox.", .folder) var into: FilePath

    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        try await output.run { [into, output] console in
            let inbox = Inbox(at: into)
            let listing = try inbox.listing()
            let entries = listing.entries
            for damaged in listing.damaged {
                console.warn("\(damaged.path) is damaged: \(ShipmentError.install(damaged.problem).cause)")
            }
            for error in listing.badRecords {
                console.warn("\(ShipmentError.install(error).cause)\(error.hint.map { "; \($0)" } ?? "")")
            }
            for path in listing.strangers { console.warn("\(path) is not the inbox's own, and is passed over") }
            let waiting = try inbox.waiting()
            if output.json {
                entries.map(\.json).forEach(Output.write)
                for damaged in listing.damaged {
                    Output.write([
                        "name": damaged.name.text, "folder": damaged.path.text,
                        "error": ShipmentError.install(damaged.problem).cause.text,
                    ])
                }
                waiting.map(\.json).forEach(Output.write)
            } else {
                let lines = Inbox.Entry.columns.lines(of: entries.map(\.fields))
                lines.prefix(1).forEach(Output.write)
                for (line, entry) in zip(lines.dropFirst(), entries) {
                    Output.write(line)
                    Output.write("   \(entry.details)")
                }
                if entries.isEmpty, listing.damaged.isEmpty { console.say("no store has been installed yet") }
                waiting.map(\.text).forEach(Output.write)
            }
        }
    }
}

extension Inbox.Waiting {
    fileprivate var json: JSONObject { ["name": manifest.name.text, "unfinished": shipment] }

    var shipment: JSONObject {
        [
            "createdAt": manifest.createdAt.text,
            // Of the store and its external files.
            "size": manifest.totalSize, "sha256": manifest.store.sha256.hex,
            // Bytes that have arrived.
            "bytes": bytes, "since": since.text, "producer": producer,
        ]
    }

    fileprivate var text: PrintableText {
        "\(manifest.name.text): a shipment of \(manifest.createdAt.text) broke off; \(Figures.bytes(bytes)) of it have come, and wait"
            + " since \(since.text) for the rest"
    }
}

extension Inbox.Entry {
    fileprivate var json: JSONObject {
        let manifest = generation.manifest
        return [
            "name": manifest.name.text, "generation": generation.number, "isCurrent": isCurrent,
            "createdAt": manifest.createdAt.text, "installedAt": installedAt.text,
            // Left out if it is unknown whether a reader holds it.
            "isHeld": isHeld,
            // The end of the lease that a holdings file gave a sender.
            "leasedUntil": leasedUntil?.text,
            // Since when shipments of the store are refused; left out if they are not.
            "onHoldSince": onHoldSince?.text,
            // Of the current generation. Left out if it is unknown, or nobody follows the store.
            "age": age?.age?.inWholeSeconds, "isConnected": age?.isConnected == true ? true : nil,
            // Left out if it was not, or is welcome again.
            "rolledBackAt": rolledBackAt?.text,
            // Left out unless this device has adopted it.
            "isAdopted": isAdopted ? true : nil,
            // Bytes of the store, and of its external files.
            "size": manifest.totalSize, "externalFiles": manifest.externalFiles.count,
            "sha256": manifest.store.sha256.hex,
            // The proven id of the device that made it, and the number that the device gave it.
            "producer": producer, "counter": counter, "identity": manifest.identity,
            "applicationID": manifest.store.applicationID, "userVersion": manifest.store.userVersion,
            "schemaSHA256": manifest.store.schemaSHA256.hex,
            // Of a Core Data store.
            "entityVersionHashes": manifest.coreData?.entityVersionHashes,
            // Of the generation, and of the store in it.
            "folder": generation.path.text, "path": generation.storePath.text, "metadata": manifest.metadata,
        ]
    }

    fileprivate static let columns: [TextColumn] = [
        .left(""), .left("name"), .right("number"), .left("copied"), .right("size"), .right("external"),
        .left("digest"),
    ]

    fileprivate var fields: [String] {
        let manifest = generation.manifest
        let files = manifest.externalFiles.count
        return [
            isCurrent ? "*" : "", manifest.name.text, "\(generation.number)", manifest.createdAt.text,
            Figures.bytes(manifest.totalSize), files == 0 ? "" : "\(files)",
            String(manifest.store.sha256.hex.prefix(8)),
        ]
    }

    fileprivate var details: String {
        let manifest = generation.manifest
        let facts = [
            "\(isAdopted ? "adopted" : "installed") \(installedAt.text)",
            manifest.coreData.map { "\($0.entityVersionHashes.count) entities" }
                ?? "user_version \(manifest.store.userVersion)",
            age.flatMap { $0.isConnected || $0.age != nil ? $0.inWords : nil },
            age?.isConnected == true ? "connected" : nil,
            isHeld == true ? "held" : nil, leasedUntil.map { "held until \($0.text)" },
            onHoldSince.map { "no shipment comes in since \($0.text)" },
            rolledBackAt.map { "rolled back \($0.text)" },
        ]
        let pairs = manifest.metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return (facts.compactMap(\.self) + pairs).joined(separator: ", ")
    }
}
