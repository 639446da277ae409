import ArgumentParser
import ShipStore

struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Trust another device, or change what it is trusted with.",
        usage: "ship-store trust <id> [<options>]",
        discussion: """
            The id is what `ship-store identity` says there; bring it here by a way on which nobody can change it. Both \
            devices have to trust each other. What is not said stays as it is; at first, a device may send and receive \
            any store.

              ship-store trust Q9W11-DFWFJ-... --name watch --role receiver
              ship-store trust Q9W11-DFWFJ-... --name phone --role sender --store Recipes
            """)

    @Argument(help: "The id of the other device.", transform: DeviceIdentifierArgument.read)
    var id: DeviceIdentifierArgument

    @Option(help: "What to call it.", transform: PeerNameArgument.read)
    var name: PeerNameArgument?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("What it may be: sender or receiver; may be given again for both.", valueName: "role"),
        transform: RoleArgument.read)
    var role: [RoleArgument] = []

    @Option(
        parsing: .singleValue, help: "A store that it may send or receive, and no other; may be given again.",
        transform: StoreNameArgument.read)
    var store: [StoreNameArgument] = []

    @Flag(help: "It may send or receive every store, as at first.")
    var allStores = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "It may send this store from now on, although another device did so before; may be given again.",
            valueName: "store"),
        transform: StoreNameArgument.read)
    var takesOver: [StoreNameArgument] = []

    @OptionGroup(title: "Device options") var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        if allStores, !store.isEmpty { throw ValidationError("--store and --all-stores exclude each other") }
    }

    private var terms: TrustList.Terms {
        var terms = TrustList.Terms()
        terms.name = name?.name
        if !role.isEmpty { terms.roles = Set(role.map(\.role)) }
        if allStores { terms.stores = .all }
        if !store.isEmpty { terms.stores = .only(Set(store.map(\.name))) }
        terms.takesOver = Set(takesOver.map(\.name))
        return terms
    }

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [device = device.device, id, terms, output] in
            let peer = try device.trust(id.id, terms)
            if output.json { Output.write(json: peer) }
            console.say("\(peer.name) is trusted: \(peer.rights)")
        }
    }
}
