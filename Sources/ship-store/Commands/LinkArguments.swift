import ArgumentParser
import ShipStore
import ShipStoreNetwork
import SystemPackage

/// How a command reaches the other side.
struct LinkArguments: ParsableArguments {
    private static let standard = Timeouts()

    @Flag(
        help: """
            Speak TCP with programs of this machine only, without encryption and without asking who they are, although \
            other devices are trusted.
            """)
    var insecure = false

    @Option(
        help: ArgumentHelp(
            """
            With --pair: what to call the other device from now on. (default: asked for on a terminal; else what it calls itself)
            """, valueName: "name"),
        transform: PeerName.read)
    var peerName: PeerName?

    @OptionGroup var device: DeviceArguments

    @Option("Give up connecting after this many seconds. (default: \(standard.connect.inSeconds))", .seconds)
    var connectTimeout = standard.connect

    @Option(
        "Give up if the other side has not greeted after this long. (default: \(standard.hello.inSeconds))", .seconds)
    var helloTimeout = standard.hello

    @Option("Give up if the other side is silent for this long. (default: \(standard.idle.inSeconds))", .seconds)
    var idleTimeout = standard.idle

    @Option(
        """
        Give up if the other side does nothing but say that it is at work for this long, and for a second more for each \
        MB of the shipment. (default: \(standard.work.inSeconds))
        """, .seconds)
    var workTimeout = standard.work

    @Option(
        """
        Between two sides of which the sender follows its stores: say this often, 1s to 1h, that this side is still there while nothing \
        changes; the longer time of both counts. receive --from --follow asks a sender that does not follow this often. (default: 1m)
        """, .interval)
    var keepalive = standard.keepAlive

    func validate() throws {
        guard (Duration.seconds(1)...Duration.seconds(3600)).contains(keepalive) else {
            throw ValidationError("--keepalive takes a time from 1s to 1h")
        }
    }

    var timeouts: Timeouts {
        var timeouts = Timeouts(
            connect: connectTimeout, hello: helloTimeout, idle: idleTimeout,
            work: workTimeout)
        timeouts.keepAlive = keepalive
        return timeouts
    }

    var linkOptions: LinkOptions {
        var options = LinkOptions()
        options.connectTimeout = connectTimeout
        options.handshakeTimeout = helloTimeout
        return options
    }

    /// The name to give to the device that pairs; `nil` for what it calls itself.
    func nameOfPeer(_ console: Console) -> PeerName? {
        if let peerName { return peerName }
        let question: PrintableText = "what to call the other device (return: what it calls itself): "
        while let answer = console.ask(question), !answer.isEmpty {
            if let name = PeerName(answer) { return name }
            console.say(PeerName.rule)
        }
        return nil
    }

    /// Warns on the console if the link is not protected.
    func trust(_ console: Console) -> TrustPolicy {
        guard insecure else { return .trustedPeers(of: device.device) }
        console.warn("--insecure: nothing is encrypted, and nobody is asked who they are")
        return .localPrograms
    }
}
