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
    /// The content of a file is no shipment, or is damaged or cut off.
    case badFile(ProtocolError)
    /// A block does not decode, or cannot be encoded.
    case compression(CompressionError)
    /// The other side is alive, and has not sent the next message in time.
    case overdue(Overdue)
    /// The consumer has refused.
    case refused(Reason)
    /// The producer has given up.
    case givenUp(Reason)
    /// The store that came in is not sound, although its digest is right.
    case badStore(StoreCheck.Flaw)
    /// The shipment is larger than the budget allows.
    case tooMuch(ShipmentBudget.Excess)
    /// The store does not meet the requirements of the reader.
    case unwelcome(StoreRequirements.Objection)
    /// The store did not answer a probe with yes.
    case probe(FailedProbe)
    /// The model of the reader cannot be read.
    case model(ModelFileError)
    /// It could not be installed.
    case install(InboxError)
    /// The installed copy cannot be read.
    case serving(CoordinatorError)
    case file(FileError)
    /// Something could not be done to a store of this device.
    case operation(OperationError)
    /// The page about an inspection could not be written.
    case report(ReportError)
    /// A restore failed, and something of it is still there.
    indirect case unfinished(ShipmentError, Leftovers)
    /// The memory of acknowledged copies cannot be used, or not be changed.
    case memory(BaseMemoryError)
    /// Nothing is remembered under this name.
    case notRemembered(StoreName)
    /// This device's identity or its list of trusted devices cannot be used.
    case identity(IdentityError)
    /// A device cannot be trusted as was said.
    case trustList(TrustListError)
    /// Two devices could not be paired.
    case pairing(PairingError)
    /// No trusted device has this id or name.
    case noSuchPeer(ForeignText, near: [ForeignText])
    /// No device is trusted as a receiver: nobody could come for a store.
    case noReceiver
    /// The device at the other end is trusted as a receiver, and with none of the stores that there are.
    case noStoreFor(DeviceIdentifier)
    /// No store has come into the inbox whose stores are to be passed on.
    case noStoreYet
    /// The producer has no stores.
    case nothingToShip
    /// The device at the other end may not be the sender, the receiver or the relay of a store of this name.
    case notAllowed(StoreName, TrustedPeer.Role)
    /// A generation of an inbox cannot be passed on: the generation came without a signature of the device that made it.
    case notSigned(StoreName, generation: Int)
    /// The receiver's program knows nothing of shipments that another device has signed than the one at the other end of the link.
    case takesNoRelay
    /// A signature is not that of its shipment.
    case signature(SignatureError)
    /// A shipment in a file, which may be what the standard input was made to be, is not signed, and this device takes them only from those
    /// that it trusts.
    case unsigned(StoreName, onStandardInput: Bool)
    /// The device that signed a shipment is not trusted to send.
    case unknownSigner(DeviceIdentifier)
    /// Two of the stores that are to be shipped together would have this name.
    case sameName(StoreName)
    /// Another store was shipped to the receiver under this name before: the one at that path.
    case otherSent(StoreName, FilePath)
    /// It cannot be told which store was shipped under this name before.
    case unknownSent(StoreName, BaseMemoryError)
    /// A one-way shipment is a delta, and its base, which has this digest, is not here.
    case missingBase(StoreName, ContentDigest)
    /// A shipment in a file cannot be inspected: it is a delta against a base of this digest.
    case notWhole(FilePath, StoreName, base: ContentDigest)
    /// An earlier shipment in a file, which a shipment was to build on, cannot be unpacked.
    indirect case earlier(FilePath, ShipmentError)
    /// A file is not a valid holdings file.
    case badHoldings(FilePath, flaw: ForeignText)
    /// Something is wrong with a publication.
    case publication(PublicationError)
    /// The producer awaits an answer on a link on which there is no way back.
    case cannotAnswer
    /// This side was told to stop.
    case stopped
    /// An error of SQLite's on an installed store, in its own words.
    case sqlite(ForeignText)
    /// An error that this program does not foresee: a flaw of the program.
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
            case let error as FileError: error.isCancellation ? .stopped : .file(error)
            case let error as IdentityError: error == .stopped ? .stopped : .identity(error)
            case let error as BaseMemoryError: error == .stopped ? .stopped : .memory(error)
            case let error as SignatureError: .signature(error)
            case let error as PairingError: .pairing(error)
            case let error as PublicationError: .publication(error)
            case let error as TrustListError: .trustList(error)
            case is CancellationError: .stopped
            case let error as DatabaseError: .sqlite(ForeignText(error.description))
            default: .unforeseen(ForeignText(String(describing: error)))
            }
    }

    /// Runs what may throw an error of the stages below, and throws it as one of the above.
    package static func wrapping<Value: ~Copyable>(_ body: () throws -> Value) throws(ShipmentError) -> Value {
        do {
            return try body()
        } catch {
            throw ShipmentError(error)
        }
    }

    package static func awaiting<Value>(_ body: () async throws -> Value) async throws(ShipmentError) -> Value {
        do {
            return try await body()
        } catch {
            throw ShipmentError(error)
        }
    }

    /// The same for an error of a session over a link. A file breaks no protocol, so its error is `.badFile`.
    init(_ error: any Error, fromFile isFile: Bool) {
        self =
            switch ShipmentError(error) {
            case .protocolBroken(let error) where isFile: .badFile(error)
            case let error: error
            }
    }
}
