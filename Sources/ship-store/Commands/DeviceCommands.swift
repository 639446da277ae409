import ArgumentParser
import ShipStore
import SystemPackage

/// Which device this is.
struct DeviceArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Where this device keeps its key and the list of those it trusts. (default: $XDG_CONFIG_HOME/ship-store, or \
            ~/.config/ship-store)
            """, valueName: "folder"), completion: .directory,
        transform: FilePath.readFolder)
    var identity: FilePath?

    var device: Device { Device(folder: identity) }
}

extension DeviceIdentifier {
    /// Reads an id, or the name of a known device.
    ///
    /// - Parameter device: The device that knows its peers by name.
    static func read(_ text: String, knownTo device: Device) throws -> DeviceIdentifier {
        if let known = try device.peers().first(where: { $0.name.text == text }) { return known.id }
        do throws(DeviceIdentifierError) {
            return try DeviceIdentifier(text)
        } catch {
            guard PeerName(text) == nil else { throw device.noSuchPeer(text) }
            throw ValidationError("the value '\(text)' is invalid for '<id or name>': \(error.words)")
        }
    }
}

extension DeviceIdentifierError {
    fileprivate var words: String {
        switch self {
        case .badCharacter(let character): "\(character) stands in no id"
        case .badLength(let length, let expected):
            "an id has \(expected) letters and digits, in groups of five; that are \(length)"
        case .badGroup(let number, let group): "there is a slip in group \(number), \(group)"
        case .badEnd: "its last group is not one of an id"
        }
    }
}

extension PeerName {
    @Sendable static func read(_ text: String) throws -> PeerName {
        guard let name = PeerName(text) else {
            throw ValidationError("a device's name has 1 to 64 bytes, no control characters, and no space at its ends")
        }
        return name
    }
}

extension TrustedPeer.Role {
    @Sendable static func read(_ text: String) throws -> TrustedPeer.Role {
        guard let role = TrustedPeer.Role(rawValue: text) else {
            throw ValidationError("a device may be a sender or a receiver")
        }
        return role
    }
}

extension PairingCode {
    @Sendable static func read(_ text: String) throws -> PairingCode {
        guard let code = PairingCode(text) else { throw ValidationError("a code has six digits, as in 482-913") }
        return code
    }
}

struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "List the devices that this one trusts.",
        discussion: """
            Each line has the name, the id, since when it is trusted, and what it may do.

              ship-store peers
              ship-store peers --json
            """)

    @OptionGroup(title: "Device options") var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await console.run { [device = device.device, output] in
            let peers = try device.peers()
            for peer in peers {
                if output.json {
                    Output.write(json: peer)
                } else {
                    Output.write("\(peer.name)  \(peer.id)  since \(peer.since)  \(peer.rights)")
                }
            }
            if peers.isEmpty { console.say("no device is trusted yet") }
        }
    }
}

extension TrustedPeer {
    /// What it may do, in words.
    var rights: String {
        let what =
            switch stores {
            case .all: "every store"
            case .only(let names) where names.isEmpty: "no store"
            case .only(let names): names.sorted().map(\.text).joined(separator: ", ")
            }
        let verbs = [(Role.sender, "send"), (Role.receiver, "receive")].filter { roles.contains($0.0) }.map(\.1)
        let may = verbs.isEmpty ? "may do nothing" : "may \(verbs.joined(separator: " and ")) \(what)"
        let takenOver = takesOver.sorted().map(\.text).joined(separator: ", ")
        return takenOver.isEmpty ? may : "\(may); takes over \(takenOver)"
    }
}

struct IdentityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Say who this device is.",
        discussion: """
            The id is what another device is told with `ship-store trust`. It is no secret; the key that it stands for \
            never leaves this device, and is made the first time that it is needed.

              ship-store identity
              ship-store identity --qr
            """)

    @Flag(help: "Show the id as a QR code too.")
    var qr = false

    @OptionGroup(title: "Device options") var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws {
        if qr, output.json { throw ValidationError("--qr and --json exclude each other") }
    }

    func run() async throws {
        try await output.console.run { [device = device.device, qr, output] in
            let id = try device.identity().id
            if output.json {
                Output.write(object: ["id": id, "folder": device.folder.path.text])
            } else {
                Output.write("\(id)")
            }
            guard qr, let code = QRCode(id.pictureText) else { return }
            Output.write(code, blackOnWhite: Output.isTerminal)
        }
    }
}

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

    @Argument(
        help: ArgumentHelp("The id of the other device, or the name of a known one.", valueName: "id or name"),
        completion: .devices)
    var peer: String

    @Option(help: "What to call it.", transform: PeerName.read)
    var name: PeerName?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("What it may be: sender or receiver; may be given again for both.", valueName: "role"),
        completion: .list(TrustedPeer.Role.allCases.map(\.rawValue)),
        transform: TrustedPeer.Role.read)
    var role: [TrustedPeer.Role] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A store that it may send or receive too; may be given again. At first, it may no other.",
            valueName: "store"),
        transform: StoreName.read)
    var store: [StoreName] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A store that it may send or receive, and no other; may be given again.", valueName: "store"),
        transform: StoreName.read)
    var onlyStore: [StoreName] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("A store that it may send or receive no more; may be given again.", valueName: "store"),
        transform: StoreName.read)
    var noStore: [StoreName] = []

    @Flag(help: "It may send or receive every store, as at first.")
    var allStores = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "It may send this store from now on, although another device did so before; may be given again.",
            valueName: "store"),
        transform: StoreName.read)
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
    }

    private var terms: TrustList.Terms {
        var terms = TrustList.Terms()
        terms.name = name
        if !role.isEmpty { terms.roles = Set(role) }
        if allStores {
            terms.stores = .all
        } else if !onlyStore.isEmpty {
            terms.stores = .only(Set(onlyStore))
        }
        (terms.addedStores, terms.removedStores) = (store.isEmpty ? nil : Set(store), Set(noStore))
        terms.takesOver = Set(takesOver)
        return terms
    }

    func run() async throws {
        let console = output.console
        try await console.run { [device = device.device, peer, store, terms, output] in
            let peer = try device.trust(DeviceIdentifier.read(peer, knownTo: device), terms)
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

    @Argument(
        help: ArgumentHelp("The id or the name of the other device.", valueName: "id or name"), completion: .devices)
    var peer: String

    @OptionGroup(title: "Device options") var device: DeviceArguments
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await console.run { [device = device.device, peer, output] in
            let peer = try device.distrust(peer)
            if output.json { Output.write(json: peer) }
            console.say("\(peer.name) is trusted no more")
        }
    }
}
