public import DeviceTrust
public import ShipCompression
public import ShipLinks
public import ShipProtocol
import SystemPackage

extension LinkError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .couldNotResolve(let host, let reason): "the name \(host) cannot be resolved: \(reason)"
        case .refused(let endpoint), .unreachable(let endpoint, .noSuchFileOrDirectory):
            // No socket at the path of one.
            "nobody listens on \(endpoint)"
        case .timedOutConnecting(let endpoint): "\(endpoint) does not answer"
        case .unreachable(let endpoint, let errno): "\(endpoint) cannot be reached: \(errno)"
        case .notLoopback(let endpoint): "\(endpoint) is beyond this machine, and the link would not be encrypted"
        case .addressInUse(let endpoint): "another program listens on \(endpoint)"
        case .notPermitted(let endpoint): "the system does not permit \(endpoint)"
        case .notOurAddress(let endpoint): "\(endpoint) is not an address of this machine"
        case .notASocket(let path): "\(path) is not a socket"
        case .pathTooLong(let path, let limit): "\(path) is too long for a socket: at most \(limit) bytes"
        case .isATerminal(.writing): "a shipment is not fit for a terminal"
        case .isATerminal(.reading): "a shipment does not come from a terminal"
        case .childNotStarted(let errno): "the command of exec: cannot be started: \(errno)"
        case .inTheWay(let path): "\(path) is there already, and is no shipment"
        case .folderIsOpen(let path): "other users can get at the folder \(path)"
        case .notTrusted(let id): "the device at the other end is not trusted for this (its id is \(id))"
        case .notTrustedThere(let id): "the other side does not trust this device (its id is \(id))"
        case .noCertificate: "the other side does not say who it is"
        case .noTLSThere: "the other side does not encrypt, and does not say who it is"
        case .onlyTLSThere: "the other side wants to know who this device is"
        case .certificateRefused:
            "the certificate of the web server is not for its name, has expired, or comes from no authority that is trusted"
        case .noAuthorities(let path): "\(path) has no certificate, as PEM"
        case .proxyFailed(let proxy, .unreachable): "the proxy \(proxy) cannot be reached"
        case .proxyFailed(let proxy, .silent): "the proxy \(proxy) does not answer"
        case .proxyFailed(let proxy, .noProxy): "what \(proxy) answers is not what a proxy does"
        case .proxyFailed(let proxy, .refused(let status)): "the proxy \(proxy) answers with status \(status)"
        case .badProxy(let variable): "what \(ForeignText(variable)) names is no proxy that can be used"
        case .tlsFailed(let words): "no encrypted link came about: \(words)"
        case .otherUser(let user): "a program of another user, \(user), is at the other end"
        case .timedOut(.reading): "the other side has been silent for too long"
        case .timedOut(.writing): "the other side takes nothing any more"
        case .tooSlow(let bytesPerSecond):
            "the other side has sent less than \(bytesPerSecond) bytes a second for too long"
        case .closedByPeer: "the other side is gone: it closed the link"
        case .childFailed(.exited(let code)): "the command of exec: ended with status \(code)"
        case .childFailed(.signalled(let signal)): "the command of exec: was ended by signal \(signal)"
        case .oneWay: "there is no way back on this link"
        case .file(let error): error.cause
        case .carrierFailed(let words): "the link broke: \(words)"
        case .cancelled: "stopped before it was done"
        case .io(let errno): "the link broke: \(errno)"
        }
    }
}

extension ProtocolError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .truncated: "the stream ended early: the shipment is not whole"
        case .noEnd: "the stream ended early, between two shipments: more may have been to come"
        case .wrongMagic: "this is no ship-store stream"
        case .badPreamble: "the stream begins with a field that is out of range"
        case .damaged(let damage): "bytes were damaged on the way: \(damage.words)"
        case .versionNotSupported(let versions):
            "the other side speaks protocol \(Self.text(versions)), this one \(Self.text(Preamble.spokenVersions))"
        case .wrongRole: "both sides want to do the same"
        case .unknownFrame(let type): "a frame of type \(type) came, which this version does not know"
        case .payloadTooLong(let type, let length, let limit):
            "a frame of type \(type) declares \(length) bytes; at most \(limit) are allowed"
        case .inflatedTooLong(let type, let limit):
            "a message of type \(type) inflates to more than the \(limit) bytes that it may have"
        case .afterEnd: "something follows the end of what was sent, and was not received"
        case .outOfOrder(let type): "a frame of type \(type) came out of order"
        case .badPart(let flaw): "a part is out of order or out of range: \(flaw)"
        case .badBlock(let flaw): "a block is out of range: \(flaw)"
        case .badSignatureFrame: "a signature has no certificate"
        case .encodingNotSupported(let encoding): "a part comes in encoding \(encoding), which is not taken here"
        case .noCommonEncoding(let part): "part \(part) is wanted in no encoding in which it can be sent"
        case .featureNotSupported(let name):
            "the shipment requires the feature \(name), "
                + "which this version does not know"
        case .badMessage(let type, let flaw): "a message of type \(type) breaks the protocol's rules: \(flaw)"
        case .incomplete: "the sender says that it is done, but parts are missing"
        }
    }

    /// The same for what is read from a file.
    var causeOfFile: PrintableText {
        switch self {
        case .truncated: "the file ends early: the shipment is not whole"
        case .wrongMagic: "the file is no shipment"
        case .noEnd: "the file ends early, between two shipments: more may have been in it"
        case .damaged(let damage): "the file is damaged: \(damage.words)"
        case .incomplete: "parts of the shipment are missing in the file"
        case .afterEnd: "the file goes on after its end, and what follows was not received"
        default:
            "the file is no sound shipment: \(cause)"
        }
    }

    private static func text(_ versions: ClosedRange<UInt8>) -> String {
        versions.count == 1
            ? "version \(versions.lowerBound)" : "versions \(versions.lowerBound) to \(versions.upperBound)"
    }
}

extension ProtocolError.Damage {
    fileprivate var words: PrintableText {
        switch self {
        case .preamble, .frame: "a checksum is wrong"
        case .message(FrameType.manifest.rawValue): "the manifest does not inflate"
        case .message: "a message does not inflate"
        case .installedStore: "what was installed is not what was sent"
        }
    }
}

extension CompressionError.Flaw {
    fileprivate var words: PrintableText {
        switch self {
        case .notZlib: "a block does not inflate"
        case .decodedSize: "something inflates to another size than it says"
        case .trailingBytes: "bytes follow where something that was deflated ends"
        case .dictionary: "a block was deflated after other bytes than those that came before it"
        case .rows: "the rows that came do not make a store"
        case .base: "a delta was made against another base than the one that is here"
        case .segment, .segmentLimit: "the rows of the store came in a form that there is not"
        case .work: "the store takes more work to decode than its bytes are worth"
        }
    }
}

extension CompressionError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .damaged(let flaw): "bytes were damaged on the way: \(flaw.words)"
        case .sourceChanged: "a file changed while it was being sent"
        case .outOfMemory: "there is not even 1 MiB of memory left"
        case .notCanonical, .segmentFull: "the rows of the store cannot be encoded column by column"
        }
    }
}

extension IdentityError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .exposed(let path, _): "other users may have read or changed \(path)"
        case .otherOwner(let path, let user): "\(path) belongs to user \(user)"
        case .notPlain(let path): "\(path) is a link, or not what should be there"
        case .newerFormat(let path, let version):
            "a later version of this program wrote \(path), in a format, \(version), that this one does not know"
        case .damaged(let path, let flaw): "\(path) cannot be used: \(flaw)"
        case .busy(let path): "another program is changing \(path)"
        case .stopped: "stopped before it was done"
        case .notMade: "a certificate cannot be made"
        case .badKey(let key): "nothing can be encrypted with the key \(key)"
        case .file(let error): error.cause
        }
    }
}

extension SignatureError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .badCertificate: "the shipment is signed with what is no certificate"
        case .otherKey: "the shipment is signed with a key of another kind than P-256"
        case .wrong: "the signature is not that of this shipment: somebody has changed it, or it was damaged"
        case .otherDevice: "the shipment is signed by another device than the one that sends it"
        }
    }
}

extension PairingError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .wrongCode: "the two sides do not have the same code, or somebody stands in between"
        case .notOpen: "the other side waits for no code, or for no more"
        case .badMessage: "the other side does not pair as this one does"
        case .over: "nobody paired in time, or the code was tried too often"
        }
    }
}

extension TrustListError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .nameIsTaken(let name, let id): "\(name) is the name of \(id)"
        case .isThisDevice: "that is the id of this device itself"
        case .removedFromAll(let names):
            "the device may send or receive every store, so that "
                + "\(names.sorted().map(\.text).joined(separator: ", ")) cannot be taken from it"
        case .tooMany: "so many devices cannot be trusted"
        case .tooLong: "the list of trusted devices would be too long"
        }
    }
}
