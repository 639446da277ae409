import ShipStore
import StoreFiles
import SystemPackage

extension LinkError {
    /// For a device that is trusted as something else already.
    private static let inAnotherRole: PrintableText =
        "with --role sender, receiver or relay if it is trusted in another role"

    /// The two ways: a code of six digits, or the ids.
    private static let trustFirst: PrintableText =
        "trust each other first: `ship-store receive --into INBOX --pair` on one side and `ship-store send STORE --to ADDRESS --pair CODE` on the other, "
        + "or `ship-store trust ID` on both, with what `ship-store identity` says on the other"

    var hint: PrintableText? {
        switch self {
        case .couldNotResolve:
            "check the name; a file is written ./NAME or NAME.shipment, a publication's folder dir:NAME"
        case .refused(.web): "check the address, and start the web server, or the storage, there"
        case .refused, .unreachable(_, .noSuchFileOrDirectory):
            "start the other side there first: `ship-store receive --into INBOX`, or `ship-store send STORE --listen ADDRESS`"
        case .timedOutConnecting, .unreachable: "check the address and the network"
        case .notLoopback: "\(Self.trustFirst); say no --insecure then; or carry it over ssh with exec:"
        case .addressInUse: "stop it, or choose another address"
        case .notPermitted(.tcp): "choose a port above 1023"
        case .notPermitted: "run as a user who may do that, or choose another path"
        case .notOurAddress: "choose another"
        case .notASocket: "name another path, or move it away"
        case .pathTooLong: "choose a shorter path"
        case .isATerminal(.writing): "pipe it on, or name a file"
        case .isATerminal(.reading): "pipe it in, or name a file"
        case .childNotStarted: nil
        case .inTheWay: "name another file, or say --force to replace this one"
        case .folderIsOpen: "use a folder of your own that is closed: chmod 700"
        case .notTrusted(let id):
            "if it is the one that you mean, say `ship-store trust \(id)` here, \(Self.inAnotherRole)"
        case .notTrustedThere(let id): "say `ship-store trust \(id)` there, \(Self.inAnotherRole)"
        case .noCertificate: "it must show a certificate, as ship-store does"
        case .noTLSThere:
            "make it trust this device (`ship-store trust` there); on one machine, both may say --insecure"
        case .onlyTLSThere: Self.trustFirst
        case .certificateRefused:
            "check the address and the clock; --ca-file FILE gives the certificate of an authority of your own"
        case .noAuthorities: "name another file with --ca-file, AWS_CA_BUNDLE or SSL_CERT_FILE"
        case .proxyFailed(_, .refused(407)), .badProxy:
            "name it as http://USER:PASSWORD@HOST:PORT in https_proxy, http_proxy or all_proxy"
        case .proxyFailed:
            "check https_proxy, http_proxy and all_proxy, or name the server in no_proxy to go there without"
        case .tlsFailed: "check the address and the port: something else may answer there"
        case .otherUser: "use TCP between users"
        case .timedOut(.reading), .timedOut(.writing): "check it and the network, then try again"
        case .tooSlow: "look at the link; a receiver may allow less with --min-rate"
        case .closedByPeer: "look for its own message, then try again"
        case .childFailed(.exited): "look for its own message"
        case .childFailed(.signalled), .oneWay: nil
        case .file(let error): error.hint
        case .carrierFailed: "try again"
        case .cancelled: nil
        case .io: "try again"
        }
    }
}

extension ProtocolError {
    var hint: PrintableText? {
        switch self {
        case .truncated: "send it again"
        case .noEnd: "send it again; what came before stays"
        case .wrongMagic:
            "at the other end something else writes than ship-store, or than ship-store alone: check the address, or the command"
        case .badPreamble, .damaged: "send it again"
        case .versionNotSupported: "update the older of the two programs"
        case .wrongRole: "one side must be `ship-store send`, the other `receive`"
        case .unknownFrame: "update this program"
        case .payloadTooLong, .inflatedTooLong, .outOfOrder, .badPart, .badBlock, .badSignatureFrame: nil
        case .encodingNotSupported, .noCommonEncoding: "update the older of the two programs"
        case .featureNotSupported: "update this program"
        case .badMessage: nil
        case .afterEnd: "send several stores with one `ship-store send`, or receive each by itself"
        case .incomplete: "send it again"
        }
    }

    /// The same for what is read from a file.
    var hintOfFile: PrintableText {
        let anew: PrintableText = "have it made anew with `ship-store send --to FILE`"
        return switch self {
        case .truncated, .noEnd, .damaged, .incomplete: anew
        case .wrongMagic: "give what `ship-store send` wrote, unchanged and uncompressed"
        default: hint ?? anew
        }
    }
}

extension CompressionError {
    var hint: PrintableText? {
        switch self {
        case .damaged, .sourceChanged: "send it again"
        case .outOfMemory: "free some memory, then try again"
        case .notCanonical, .segmentFull: "send its pages as they are: `--plain`"
        }
    }
}

extension IdentityError {
    var hint: PrintableText? {
        switch self {
        case .exposed(let path, _): "if nobody did, `chmod go= \(path)`; otherwise remove it, and trust each other anew"
        case .otherOwner: "use a folder of your own with --identity"
        case .notPlain: "use another folder with --identity"
        case .newerFormat: "update this program"
        case .damaged(let path, _):
            switch path.lastComponent?.text {
            case "counter":
                "restore it; or remove it, and at each receiver say `ship-store trust ID --takes-over NAME` of each store"
            case "decryption.key":
                "restore it; or remove it, and let senders encrypt to the new key: `ship-store identity --encryption-key`"
            default: "restore it, or remove it and trust each other anew"
            }
        case .busy: "try again"
        case .notMade, .stopped: nil
        case .badKey: "ask that device again: ship-store identity --encryption-key"
        case .file(let error): error.hint
        }
    }
}

extension SignatureError {
    var hint: PrintableText? {
        switch self {
        case .badCertificate, .otherKey: "have it made and signed anew"
        case .wrong: "have it made and signed anew, and brought here by another way"
        case .otherDevice: nil
        }
    }
}

extension PairingError {
    var hint: PrintableText? {
        switch self {
        case .wrongCode: "compare the codes; after five tries say --pair anew there"
        case .notOpen:
            "leave --pair out if `ship-store peers` names the other side; or let it show a code first, with --pair"
        case .badMessage: "update the older one"
        case .over: "start anew, with a new code"
        }
    }
}

extension TrustListError {
    var hint: PrintableText? {
        switch self {
        case .nameIsTaken: "choose another name with --name"
        case .isThisDevice: "take that of the other one: `ship-store identity` there"
        case .removedFromAll: "name those that it keeps with --only-store"
        case .tooMany: "`ship-store distrust` some"
        case .tooLong: "name fewer stores with --store, or allow all with --all-stores"
        }
    }
}
