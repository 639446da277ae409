public import DeviceTrust
import GRDB
public import ShipCompression
public import ShipLinks
public import ShipProtocol
public import StoreBases
public import StoreFiles
public import StoreInbox
public import StoreOperations
public import StoreServing
public import StoreSnapshot
public import SystemPackage

/// Why a shipment did not arrive. On either side nothing has changed.
public enum ShipmentError: Error, Hashable, Sendable {
    /// The store could not be copied.
    case source(SnapshotError)
    /// The link could not be opened, or broke.
    case link(LinkError)
    /// The other side does not keep to the protocol, or its bytes were damaged on the way.
    case protocolBroken(ProtocolError)
    /// What is in a file is no shipment, or is damaged or cut off.
    case badFile(ProtocolError)
    /// A block does not decode, or cannot be encoded.
    case compression(CompressionError)
    /// The other side is there, and says so, and has not come to what was due.
    case overdue(Overdue)
    /// The consumer has refused.
    case refused(Reason)
    /// The producer has given up.
    case givenUp(Reason)
    /// What came in is no sound store, although its digest is right.
    case badStore(StoreCheck.Flaw)
    /// It brings more than is allowed here.
    case tooMuch(ShipmentBudget.Excess)
    /// The reader that it is for cannot make use of it.
    case unwelcome(StoreRequirements.Objection)
    /// A question that has to be answered with yes before a store becomes current was not.
    case probe(FailedProbe)
    /// The model of the reader cannot be read.
    case model(ModelFileError)
    /// It could not be installed.
    case install(InboxError)
    /// What is installed cannot be read.
    case serving(CoordinatorError)
    /// The store's metadata could not be set.
    case metadata(MetadataError)
    case file(FileError)
    /// Something could not be done to a store of this device.
    case operation(OperationError)
    /// What is in something could not be written down.
    case report(ReportError)
    /// A restore failed, and something of it is still there.
    indirect case unfinished(ShipmentError, Leftovers)
    /// What is remembered of acknowledged copies cannot be used, or not be changed.
    case memory(BaseMemoryError)
    /// Nothing is remembered under this name.
    case notRemembered(StoreName)
    /// This device's identity or its list of trusted devices cannot be used.
    case identity(IdentityError)
    /// A device cannot be trusted as was said.
    case trustList(TrustListError)
    /// Two devices did not come to trust each other.
    case pairing(PairingError)
    /// No trusted device has this id or name.
    case noSuchPeer(ForeignText)
    /// The device at the other end may not be the sender, or the receiver, of a store of this name.
    case notAllowed(StoreName, TrustedPeer.Role)
    /// A signature is not that of its shipment.
    case signature(SignatureError)
    /// A shipment in a file is not signed, and this device takes them only from those that it trusts.
    case unsigned(StoreName, UnsignedPlace)
    /// The device that signed a shipment is not trusted to send.
    case unknownSigner(DeviceIdentifier)
    /// Two of the stores that are to be shipped together would have this name.
    case sameName(StoreName)
    /// A shipment that nobody answers says what differs from a store, of this digest, that is not here.
    case missingBase(StoreName, ContentDigest)
    /// A shipment in a file is to be looked at, and says what differs from a store of this digest, without which it is nothing.
    case notWhole(FilePath, StoreName, base: ContentDigest)
    /// What is said to tell what a receiver holds does not.
    case badHoldings(FilePath, flaw: ForeignText)
    /// The producer awaits an answer on a link on which there is no way back.
    case cannotAnswer
    /// This side was told to stop.
    case stopped
    /// An error of SQLite's on an installed store, in its own words.
    case sqlite(ForeignText)
    /// Something that nobody has thought of: a flaw of this program.
    case unforeseen(ForeignText)

    /// Any error of the stages below, as one of the above.
    package init(_ error: any Error) {
        self =
            switch error {
            case let error as ShipmentError: error
            case let error as SnapshotError: error == .cancelled ? .stopped : .source(error)
            case let error as LinkError: error == .cancelled ? .stopped : .link(error)
            case let error as ProtocolError: .protocolBroken(error)
            case let error as CompressionError: .compression(error)
            case let flaw as StoreCheck.Flaw: .badStore(flaw)
            case let excess as ShipmentBudget.Excess: .tooMuch(excess)
            case let objection as StoreRequirements.Objection: .unwelcome(objection)
            case let failure as FailedProbe: .probe(failure)
            case let error as ModelFileError: .model(error)
            case let error as InboxError: error.isCancellation ? .stopped : .install(error)
            case let error as OperationError: error.isCancellation ? .stopped : .operation(error)
            case CoordinatorError.inbox(let error): .install(error)
            case CoordinatorError.file(let error): .file(error)
            case let error as CoordinatorError: .serving(error)
            case let error as MetadataError: error == .cancelled ? .stopped : .metadata(error)
            case let error as FileError: error.isCancellation ? .stopped : .file(error)
            case let error as IdentityError: .identity(error)
            case let error as BaseMemoryError: error == .stopped ? .stopped : .memory(error)
            case let error as SignatureError: .signature(error)
            case let error as PairingError: .pairing(error)
            case let error as TrustListError: .trustList(error)
            case is CancellationError: .stopped
            case let error as DatabaseError: .sqlite(ForeignText(error.description))
            default: .unforeseen(ForeignText(String(describing: error)))
            }
    }

    /// The same of a session over a link: a file is not a peer.
    init(_ error: any Error, from medium: PeerLink.Medium) {
        self =
            switch (ShipmentError(error), medium) {
            case (.protocolBroken(let error), .file): .badFile(error)
            case (let error, _): error
            }
    }
}

/// What the other side has not come to, in the time in which it should have.
public enum Overdue: Hashable, Sendable {
    /// The producer has not said what it sends.
    case manifest(Duration)
    /// The consumer has not said whether it takes the shipment.
    case answer(Duration)
    /// The consumer has everything, and has not installed it.
    case receipt(Duration)
}

/// Where a shipment is that nobody has signed.
public enum UnsignedPlace: Hashable, Sendable {
    /// At the path that was given.
    case path
    /// What the standard input was made to be.
    case standardInput
}
