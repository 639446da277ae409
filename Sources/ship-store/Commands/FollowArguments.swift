import ArgumentParser
import ShipStore

/// How stores are followed.
struct FollowArguments: ParsableArguments {
    @Flag(
        help: """
            Go on: ship every change of the stores over the same connection, and connect again whenever it breaks, until a signal ends it.
            """)
    var follow = false

    @Option(
        """
        Ship a store once it has been quiet for this long, 5 s after the first change at the latest; later where copies would \
        take more than a tenth of the time. (default: 200ms)
        """, .interval)
    var settle: Duration?

    @Option(
        "Take no copy of a store for this long after a shipment of it, to spare a battery. (default: 0s)", .interval)
    var atMostEvery: Duration?

    @Option(
        """
        On Linux, where the disk of the memory does not clone files, make copies of stores without external files in RAM, as long \
        as those of all stores together take no more than this, in bytes or with K, M or G of 1,024, and write the newest to the \
        disk once a minute, and at the end. 0 writes each one. (default: 64M)
        """, .memory)
    var memory: Int64?

    @Flag(
        help: """
            Go on also after what time alone does not mend: a receiver that does not trust this device, or does not take \
            the store. Wait for a store that is not there yet.
            """)
    var keepTrying = false

    func validate() throws {
        if !follow, settle != nil || atMostEvery != nil || memory != nil || keepTrying {
            throw ValidationError(
                "--settle, --at-most-every, --memory and --keep-trying say something only with --follow")
        }
    }

    var following: Following {
        var following = Following()
        following.settling = settle ?? following.settling
        following.minimumInterval = atMostEvery ?? following.minimumInterval
        following.memory = memory ?? following.memory
        following.keepsTrying = keepTrying
        return following
    }
}
