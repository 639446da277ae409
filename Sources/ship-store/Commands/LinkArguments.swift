import ArgumentParser
import ShipStore
import ShipStoreNetwork

/// How a command reaches the other side.
struct LinkArguments: ParsableArguments {
    private static let standardConnectTimeout = Seconds(10)
    private static let standardHelloTimeout = Seconds(10)
    private static let standardIdleTimeout = Seconds(30)
    private static let standardWorkTimeout = Seconds(600)

    @Flag(
        help: """
            Speak TCP with programs of this machine only, without encryption and without asking who they are, although \
            other devices are trusted.
            """)
    var insecure = false

    @OptionGroup var device: DeviceArguments

    @Option(
        help: ArgumentHelp(
            "Give up connecting after this many seconds. (default: \(standardConnectTimeout))", valueName: "seconds"),
        transform: Seconds.read
    )
    var connectTimeout: Seconds = standardConnectTimeout

    @Option(
        help: ArgumentHelp(
            "Give up if the other side has not greeted after this long. (default: \(standardHelloTimeout))",
            valueName: "seconds"),
        transform: Seconds.read)
    var helloTimeout: Seconds = standardHelloTimeout

    @Option(
        help: ArgumentHelp(
            "Give up if the other side is silent for this long. (default: \(standardIdleTimeout))", valueName: "seconds"
        ),
        transform: Seconds.read)
    var idleTimeout: Seconds = standardIdleTimeout

    @Option(
        help: ArgumentHelp(
            """
            Give up if the other side does nothing but say that it is at work for this long, and for a second more for each \
            MB of the shipment. (default: \(standardWorkTimeout))
            """, valueName: "seconds"),
        transform: Seconds.read)
    var workTimeout: Seconds = standardWorkTimeout

    var timeouts: Timeouts {
        Timeouts(
            connect: connectTimeout.duration, hello: helloTimeout.duration, idle: idleTimeout.duration,
            work: workTimeout.duration)
    }

    var linkOptions: LinkOptions {
        var options = LinkOptions()
        options.connectTimeout = connectTimeout.duration
        options.handshakeTimeout = helloTimeout.duration
        return options
    }

    /// Says on the console what is given up.
    func trust(_ console: Console) -> TrustPolicy {
        guard insecure else { return .trustedPeers(of: device.device) }
        console.warn("--insecure: nothing is encrypted, and nobody is asked who they are")
        return .localPrograms
    }
}

/// How a shipment is made small.
struct MannerArguments: ParsableArguments {
    @Option(
        help: """
            The effort of compression, from 1 to 9, the smallest; below 6 hardly any time is saved. auto follows the \
            link. (default: \(LevelArgument.auto))
            """,
        transform: LevelArgument.read)
    var level: LevelArgument = .auto

    @Flag(help: "Send the store's pages as they are, compressed, and not its rows.")
    var plain = false

    @Flag(help: "Do not decode what is encoded before counting on it: the receiver alone finds what is wrong.")
    var noSelfCheck = false

    @Flag(
        help: """
            Round what is sent up to steps of 4,096 bytes, so that whoever sees how much goes over the line, and can write rows \
            into the store, learns less of what else is in it.
            """)
    var pad = false

    var encoding: PartEncoding { plain ? .blocks : .columns }
    var selfCheck: SelfCheck { noSelfCheck ? .off : .on }
}
