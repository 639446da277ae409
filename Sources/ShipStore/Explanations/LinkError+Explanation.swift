import ShipLinks
import ShipProtocol
import StoreFiles
import SystemPackage

extension LinkError {
    /// Six digits, or ids where they can be copied.
    private static let trustFirst: PrintableText =
        "trust each other first: `ship-store receive --pair` on one side and `ship-store send --pair CODE` on the other, "
        + "or `ship-store trust ID` on both, with what `ship-store identity` says on the other"

    var explanation: Explanation {
        switch self {
        case .couldNotResolve(let host, let reason):
            Explanation(
                "the name \(host) cannot be resolved: \(reason)",
                hint: "check the name; a file is written ./NAME or NAME.shipment")
        case .refused(let endpoint), .unreachable(let endpoint, .noSuchFileOrDirectory):
            // No socket at the path of one.
            Explanation(
                "nobody listens on \(endpoint)", hint: "start `ship-store receive --into INBOX` there first")
        case .timedOutConnecting(let endpoint):
            Explanation("\(endpoint) does not answer", hint: "check the address and the network")
        case .unreachable(let endpoint, let errno):
            Explanation("\(endpoint) cannot be reached: \(errno)", hint: "check the address and the network")
        case .notLoopback(let endpoint):
            Explanation(
                "\(endpoint) is beyond this machine, and this device trusts nobody there",
                hint: "\(Self.trustFirst); or carry it over ssh with exec:")
        case .addressInUse(let endpoint):
            Explanation(
                "another program listens on \(endpoint)", hint: "stop it, or choose another address with --listen")
        case .notPermitted(let endpoint):
            Explanation("the system does not permit \(endpoint)", hint: "choose a port above 1023")
        case .notOurAddress(let endpoint):
            Explanation("\(endpoint) is not an address of this machine", hint: "choose another with --listen")
        case .notASocket(let path):
            Explanation("\(path) is not a socket", hint: "name another path, or move it away")
        case .pathTooLong(let path, let limit):
            Explanation("\(path) is too long for a socket: at most \(limit) bytes", hint: "choose a shorter path")
        case .isATerminal(.output):
            Explanation("a shipment is not fit for a terminal", hint: "pipe it on, or name a file")
        case .isATerminal(.input):
            Explanation("a shipment does not come from a terminal", hint: "pipe it in, or name a file")
        case .childNotStarted(let errno):
            Explanation("the command of exec: cannot be started: \(errno)")
        case .inTheWay(let path):
            Explanation(
                "\(path) is there already, and is no shipment",
                hint: "name another file, or say --force to replace this one")
        case .folderIsOpen(let path):
            Explanation(
                "other users can get at the folder \(path)", hint: "use a folder of your own that is closed: chmod 700")
        case .notTrusted(let id):
            Explanation(
                "the device at the other end is not trusted for this (its id is \(id))",
                hint: "if it is the one that you mean, say `ship-store trust \(id)` here")
        case .notTrustedThere(let id):
            Explanation(
                "the other side does not trust this device (its id is \(id))",
                hint: "say `ship-store trust \(id)` there")
        case .noCertificate:
            Explanation("the other side does not say who it is", hint: "it must show a certificate, as ship-store does")
        case .noTLSThere:
            Explanation(
                "the other side does not encrypt, and does not say who it is",
                hint: "make it trust this device (`ship-store trust` there), and start it again; on one machine, both "
                    + "may say --insecure")
        case .onlyTLSThere:
            Explanation(
                "the other side wants to know who this device is",
                hint: Self.trustFirst)
        case .tlsFailed(let words): Explanation("no encrypted link came about: \(words)")
        case .otherUser(let user):
            Explanation("a program of another user, \(user), is at the other end", hint: "use TCP between users")
        case .timedOut(.reading):
            Explanation(
                "the other side has been silent for too long", hint: "check it and the network, then try again")
        case .timedOut(.writing):
            Explanation(
                "the other side takes nothing any more", hint: "check it and the network, then try again")
        case .tooSlow(let bytesPerSecond):
            Explanation(
                "the other side has sent less than \(bytesPerSecond) bytes a second for too long",
                hint: "look at the link; a receiver may allow less with --least-rate")
        case .closedByPeer:
            Explanation("the other side is gone: it closed the link", hint: "look for its own message, then try again")
        case .childFailed(.exited(let code)):
            Explanation("the command of exec: ended with status \(code)", hint: "look for its own message")
        case .childFailed(.signalled(let signal)):
            Explanation("the command of exec: was ended by signal \(signal)")
        case .oneWay: Explanation("there is no way back on this link")
        case .file(let error): error.explanation
        case .carrierFailed(let words): Explanation("the link broke: \(words)", hint: "try again")
        case .cancelled: Explanation("stopped before it was done")
        case .io(let errno): Explanation("the link broke: \(errno)", hint: "try again")
        }
    }
}
