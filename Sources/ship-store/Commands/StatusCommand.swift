import ArgumentParser
import ShipStore
import StoreInbox
import SystemPackage

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say of each store of an inbox whether it is well, how old it is, and what failed last.",
        discussion: """
            A line a store: how it is, its name, what is current, how much that is, when it was installed, and how old it is if \
            its sender follows it. Below that who sent it, what is coming in or waits for the rest, whether it is held \
            since a rollback or halted by its publisher, and why the last shipment failed, since when, and what to do.

            A store is failing if a shipment of it failed, and none has succeeded since, or if what is current cannot be \
            read. The exit status is 80 if one is, otherwise 0: a store that is held, halted or empty yet is no failure. To forget of \
            a store that it failed, `ship-store forget` it, or let a shipment succeed.

            This command only reads. A receiver may be at work meanwhile, or not.

              ship-store status --into inbox
              ship-store status --into inbox --json
            """)

    @Option(
        help: ArgumentHelp("The inbox.", valueName: "folder"), completion: .directory,
        transform: FilePath.readFolder)
    var into: FilePath

    @OptionGroup var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await console.run { [into, output, device = device.device] in
            let stores = try Inbox(at: into).status()
            // A list that cannot be read gives no names.
            let names = Dictionary(((try? device.peers()) ?? []).map { ($0.id, $0.name) }) { first, _ in first }
            if output.json {
                for store in stores { Output.write(object: store.json(names)) }
            } else {
                let lines = StoreStatus.columns.lines(of: stores.map(\.fields))
                lines.prefix(1).forEach(Output.write)
                for (line, store) in zip(lines.dropFirst(), stores) {
                    Output.write(line)
                    for detail in store.details(names) { Output.write("   \(detail)") }
                }
            }
            if stores.isEmpty { console.say("no store has been installed yet") }
            guard let failing = stores.first(where: { $0.state == .failing }) else { return }
            console.fail(failing.cause, hint: failing.hint, .failing)
            throw ExitCode(ExitStatus.failing.rawValue)
        }
    }
}

extension StoreStatus {
    fileprivate var cause: PrintableText {
        if let problem { return "\(name) is damaged: \(ShipmentError.install(problem).cause)" }
        return "the last shipment of \(name) failed: \(failure?.error ?? "")"
    }

    fileprivate var hint: PrintableText? {
        if let problem { return ShipmentError.install(problem).hint }
        return failure?.hint.map { "\($0)" }
    }

    fileprivate static let columns: [TextColumn] = [
        .left(""), .left("name"), .right("number"), .right("size"), .left("installed"), .left("age"),
    ]

    fileprivate var fields: [String] {
        [
            state.rawValue, name.text, current.map { "\($0.generation.number)" } ?? "",
            current.map { Figures.bytes($0.generation.manifest.totalSize) } ?? "", current?.installedAt.text ?? "",
            current?.age?.inWords ?? "",
        ]
    }

    fileprivate func details(_ names: [DeviceIdentifier: PeerName]) -> [PrintableText] {
        var lines: [PrintableText] = []
        if let current {
            let producer: PrintableText? = current.producer.map { id in names[id].map { "\($0), \(id)" } ?? "\(id)" }
            if current.isAdopted {
                lines.append("adopted by the operator of this device")
            } else {
                lines.append(
                    "from \(producer ?? "an unknown device")" + (current.counter.map { ", its number \($0)" } ?? ""))
            }
            if current.age?.isConnected == true { lines.append("connected: a receiver can ask the sender") }
            if let since = current.onHoldSince { lines.append("held since \(since): no shipment comes in") }
        }
        if let halted { lines.append("halted by its publisher since \(halted): nothing newer is taken") }
        for waiting in unfinished {
            lines.append(
                "unfinished: \(Figures.bytes(waiting.bytes)) of what was copied \(waiting.manifest.createdAt), "
                    + "\(Figures.bytes(waiting.manifest.totalSize)), are here since \(waiting.since)")
        }
        if let problem { lines.append("damaged: \(ShipmentError.install(problem).cause)") }
        if let failure {
            let first: PrintableText = failure.since == failure.at ? "" : ", first \(failure.since)"
            lines.append("failed \(failure.at)\(first): \(failure.error) (\(failure.code))")
            if let hint = failure.hint { lines.append("to do: \(hint)") }
        }
        return lines
    }

    fileprivate func json(_ names: [DeviceIdentifier: PeerName]) -> JSONObject {
        let noted: JSONObject? = failure.map {
            [
                // The kind, for programs.
                "code": $0.code, "error": $0.error.text, "hint": $0.hint?.text,
                // When the first one failed since the last success, and when the last one did.
                "since": $0.since.text, "at": $0.at.text,
            ]
        }
        return [
            "name": name.text, "state": state.rawValue, "generation": current?.generation.number,
            "size": current?.generation.manifest.totalSize, "createdAt": current?.generation.manifest.createdAt.text,
            "installedAt": current?.installedAt.text, "age": current?.age?.age?.inWholeSeconds,
            "isConnected": current?.age?.isConnected == true ? true : nil, "producer": current?.producer,
            // What this device calls it.
            "producerName": current?.producer.flatMap { names[$0]?.text }, "counter": current?.counter,
            "isAdopted": current?.isAdopted == true ? true : nil, "onHoldSince": current?.onHoldSince?.text,
            // By the publisher's clock.
            "haltedSince": halted?.text,
            "unfinished": unfinished.map(\.shipment), "failure": noted,
            "error": problem.map { ShipmentError.install($0).cause.text },
        ]
    }
}
