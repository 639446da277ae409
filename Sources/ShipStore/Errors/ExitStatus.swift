/// How the program ends, after sysexits(3).
package enum ExitStatus: Int32, Hashable, Sendable {
    case success = 0
    /// EX_USAGE: the command line makes no sense.
    case usage = 64
    /// EX_DATAERR: the data is bad.
    case badData = 65
    /// EX_NOINPUT: no such store.
    case noInput = 66
    /// EX_UNAVAILABLE: the peer is not reachable.
    case unavailable = 69
    /// EX_SOFTWARE: an error that the program does not foresee.
    case unexpected = 70
    /// EX_OSFILE: what the shipment refers to is not here.
    case missingBase = 72
    /// EX_CANTCREAT: it cannot be installed.
    case cannotInstall = 73
    /// EX_IOERR: an error of the system's input or output.
    case inputOutput = 74
    /// EX_TEMPFAIL: try again.
    case tryAgain = 75
    /// EX_PROTOCOL: the peer broke the protocol.
    case protocolBroken = 76
    /// EX_NOPERM: not trusted, or not allowed.
    case notPermitted = 77
    /// EX_CONFIG: a later version of this program made what is to be used. It is not damaged (EX_DATAERR): this program is to be updated.
    case misconfigured = 78
    /// The copy is too old, or it is unknown how old it is; sysexits(3) has no number for that.
    case tooOld = 79
    /// Shipments of a store do not arrive, or its current generation cannot be read; sysexits(3) has no number for that.
    case failing = 80
    /// A shell's status of a program that SIGHUP, SIGINT or SIGTERM ended.
    case hungUp = 129
    case interrupted = 130
    case terminated = 143
}
