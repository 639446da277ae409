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
              ship-store trust TA3T1-BXWNF-... --name tablet --role relay
              ship-store trust phone --store Tea
              ship-store trust phone --no-store Recipes --no-role receiver
            """)

    @Argument(
        help: ArgumentHelp("The id of the other device, or the name of a known one.", valueName: "id or name"),
        completion: .devices)
    var peer: String

    @Option(help: "What to call it.", transform: PeerName.read)
    var name: PeerName?

    @Option(
        help: ArgumentHelp(
            """
            What it may be too: sender, receiver, or relay, which brings what trusted senders have signed; may be given \
            again. At first, it is nothing else.
            """, valueName: "role"),
        completion: .list(TrustedPeer.Role.allCases.map(\.rawValue)),
        transform: TrustedPeer.Role.read)
    var role: [TrustedPeer.Role] = []

    @Option(
        help: ArgumentHelp("What it may be no more; may be given again.", valueName: "role"),
        completion: .list(TrustedPeer.Role.allCases.map(\.rawValue)),
        transform: TrustedPeer.Role.read)
    var noRole: [TrustedPeer.Role] = []

    @Option("A store that it may send or receive too; may be given again. At first, it may no other.", .store)
    var store: [StoreName] = []

    @Option("A store that it may send or receive, and no other; may be given again.", .store)
    var onlyStore: [StoreName] = []

    @Option("A store that it may send or receive no more; may be given again.", .store) var noStore: [StoreName] = []

    @Flag(help: "It may send or receive every store, as at first.")
    var allStores = false

    @Option("It may send this store from now on, although another device did so before; may be given again.", .store)
    var takesOver: [StoreName] = []

    @OptionGroup(title: "Device options") var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        let ways = [!store.isEmpty || !noStore.isEmpty, !onlyStore.isEmpty, allStores]
        if ways.count(where: \.self) > 1 {
            throw ValidationError("--only-store, --all-stores, and --store or --no-store exclude each other")
        }
        if let both = Set(store).intersection(noStore).first {
            throw ValidationError("--store and --no-store both name \(both)")
        }
        if let both = Set(role).intersection(noRole).first {
            throw ValidationError("--role and --no-role both name \(both.rawValue)")
        }
    }

    private var changes: TrustList.PeerChanges {
        var changes = TrustList.PeerChanges()
        changes.name = name
        (changes.addedRoles, changes.removedRoles) = (Set(role), Set(noRole))
        if allStores {
            changes.stores = .all
        } else if !onlyStore.isEmpty {
            changes.stores = .only(Set(onlyStore))
        }
        (changes.addedStores, changes.removedStores) = (store.isEmpty ? nil : Set(store), Set(noStore))
        changes.takesOver = Set(takesOver)
        return changes
    }

    func run() async throws {
        try await output.run { [device = device.device, peer, role, store, changes, output] console in
            let peer = try device.trust(DeviceIdentifier.read(peer, knownTo: device), changes)
            if output.json { Output.write(json: peer) }
            console.say("\(peer.name) is trusted: \(peer.rights)")
            if !role.isEmpty, peer.roles != Set(role) {
                console.say("it keeps the roles that it had; --no-role takes one away")
            }
            if !store.isEmpty, peer.stores == .all {
                console.say("it could do so with every store before; --only-store leaves it no other")
            }
        }
    }
}
