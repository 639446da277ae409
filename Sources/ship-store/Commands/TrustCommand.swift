import ArgumentParser
import ShipStore

struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Trust another device, or change what it is trusted with.",
        usage: "ship-store trust <id or name> [<options>]",
        discussion: """
            The id is what `ship-store identity` says there; bring it here by a way on which nobody can change it. Both \
            devices have to trust each other. A device that is trusted already has a name too. What is not said stays as \
            it is; at first, a device may send and receive any store, or those alone that --store names.

              ship-store trust Q9W11-DFWFJ-... --name watch --role receiver
              ship-store trust Q9W11-DFWFJ-... --name phone --role sender --store Recipes
              ship-store trust phone --store Tea
              ship-store trust phone --no-store Recipes
            """)

    @Argument(help: ArgumentHelp("The id of the other device, or the name of a known one.", valueName: "id or name"))
    var peer: String

    @Option(help: "What to call it.", transform: PeerNameArgument.read)
    var name: PeerNameArgument?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("What it may be: sender or receiver; may be given again for both.", valueName: "role"),
        transform: RoleArgument.read)
    var role: [RoleArgument] = []

    @Option(
        parsing: .singleValue,
        help: "A store that it may send or receive too; may be given again. At first, it may no other.",
        transform: StoreNameArgument.read)
    var store: [StoreNameArgument] = []

    @Option(
        parsing: .singleValue, help: "A store that it may send or receive, and no other; may be given again.",
        transform: StoreNameArgument.read)
    var onlyStore: [StoreNameArgument] = []

    @Option(
        parsing: .singleValue, help: "A store that it may send or receive no more; may be given again.",
        transform: StoreNameArgument.read)
    var noStore: [StoreNameArgument] = []

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
        let ways = [!store.isEmpty || !noStore.isEmpty, !onlyStore.isEmpty, allStores]
        if ways.count(where: \.self) > 1 {
            throw ValidationError("--only-store, --all-stores, and --store or --no-store exclude each other")
        }
        if let both = Set(store).intersection(noStore).first {
            throw ValidationError("--store and --no-store both name \(both.name)")
        }
    }

    private var terms: TrustList.Terms {
        var terms = TrustList.Terms()
        terms.name = name?.name
        if !role.isEmpty { terms.roles = Set(role.map(\.role)) }
        terms.stores = stores
        terms.takesOver = Set(takesOver.map(\.name))
        return terms
    }

    private var stores: TrustList.StoreTerms? {
        if allStores { return .all }
        if !onlyStore.isEmpty { return .only(Set(onlyStore.map(\.name))) }
        guard !store.isEmpty || !noStore.isEmpty else { return nil }
        return .changed(adding: Set(store.map(\.name)), removing: Set(noStore.map(\.name)))
    }

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [device = device.device, peer, store, terms, output] in
            let peer = try device.trust(DeviceIdentifierArgument.read(peer, knownTo: device), terms)
            if output.json { Output.write(json: peer) }
            console.say("\(peer.name) is trusted: \(peer.rights)")
            if !store.isEmpty, peer.stores == .all {
                console.say("it could do so with every store before; --only-store leaves it no other")
            }
        }
    }
}

struct DistrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "distrust",
        abstract: "Trust a device no more.",
        usage: "ship-store distrust <id or name> [<options>]",
        discussion: """
            From now on it is a stranger: it does not get in again. What it has sent stays.

              ship-store distrust watch
            """)

    @Argument(help: ArgumentHelp("The id or the name of the other device.", valueName: "id or name"))
    var peer: String

    @OptionGroup(title: "Device options") var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await Running.run(console) { [device = device.device, peer, output] in
            let peer = try device.distrust(peer)
            if output.json { Output.write(json: peer) }
            console.say("\(peer.name) is trusted no more")
        }
    }
}
