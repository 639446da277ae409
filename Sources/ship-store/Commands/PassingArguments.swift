import ArgumentParser
import ShipStore
import ShipStoreNetwork
import SystemPackage

/// Passing on what other devices have made, and letting others do so.
struct PassingArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Pass on what this inbox holds, to receivers that trust the devices that made it.", valueName: "inbox"),
        completion: .directory)
    var inbox: FilePath?

    @Flag(
        help: """
            Sign each shipment for a receiver with `receive --relay`, so that it can pass it on to devices that trust this one. The \
            device gets an identity, if it has none.
            """)
    var relay = false

    /// - Parameters:
    ///   - stores: The command's arguments: names, with an inbox.
    ///   - endpoint: Where they go; `nil` for to who comes.
    func validate(for stores: [FilePath], to endpoint: Endpoint?) throws {
        guard inbox != nil else {
            if stores.isEmpty {
                throw ValidationError("say which store is to be sent, or with --inbox what is to be passed on")
            }
            return
        }
        for path in stores where StoreName(path.text) == nil {
            throw ValidationError("\(path.text) is no name of a store: with --inbox, say what `ship-store list` shows")
        }
        if relay {
            throw ValidationError("--inbox and --relay exclude each other: what is passed on is signed already")
        }
        switch endpoint {
        case nil, .tcp, .unix, .command: break
        case .file, .standardStreams, .folder, .web, .bucket:
            throw ValidationError(
                "--inbox needs a receiver that answers: HOST:PORT, unix:PATH, exec:COMMAND, or --listen")
        }
    }

    func producer(of stores: [FilePath], _ options: Producer.Options) -> Producer {
        guard let inbox else { return Producer(stores, options: options) }
        return Producer(inbox: inbox, names: stores.compactMap { StoreName($0.text) }, options: options)
    }
}
