import DeviceTrust
public import ShipProtocol
import StoreFiles
import Synchronization
public import SystemPackage

/// One shipment of a one-way session. What goes to the receiver of a holdings file is remembered: the next holdings file may name it.
final class FiledShipment: Sendable {
    /// How many copies stay that the receiver has not named: the newest.
    private static let mostUnnamed = 3

    /// Why all of the store goes; `nil` if what has changed may go.
    var whole: WholeShipment? { if case .failure(let cause) = base { cause } else { nil } }

    private let base: Result<OutgoingBase, WholeShipment>
    /// Where the shipment is remembered; `nil` if it is for any receiver, or nothing is to be remembered.
    let memory: RememberedBases?
    private let holdings: HoldingsFile?
    private let name: StoreName
    private let shipment = Mutex<OutgoingShipment?>(nil)

    /// - Parameter holdings: What its receiver holds; `nil` if it is for any receiver.
    init(
        _ name: StoreName, _ base: Result<OutgoingBase, WholeShipment>, _ memory: RememberedBases?,
        for holdings: HoldingsFile?
    ) {
        self.name = name
        self.base = base
        self.memory = holdings == nil ? nil : memory
        self.holdings = holdings
    }

    func shipment(of copy: consuming PreparedCopy, _ options: Producer.Options) -> OutgoingShipment {
        var copy = copy
        let bases = [try? base.get()].compactMap(\.self)
        // The receiver must have the base that the manifest names, even if no delta refers to it: so only a shipment that can go as a
        // delta names one.
        if options.encoding == .columns, let base = bases.first {
            copy.manifest = copy.manifest.over(base.digest)
        }
        let duration = copy.duration
        let made = OutgoingShipment(StoreVersion(copy), copiedIn: duration, options) { bases }
        shipment.withLock { $0 = made }
        return made
    }

    /// The file is complete, or there is none.
    func ended(_ result: Result<Delivery, ShipmentError>) {
        let shipment = shipment.withLock { $0.take() }
        guard let shipment, let memory, let holdings, case .success(let delivery) = result else { return }
        let receiver =
            holdings.receiver.flatMap { DeviceIdentifier(bytes: $0.bytes)?.text } ?? "a receiver without an id"
        let place = "\(receiver), in a file "
        let digest = delivery.manifest.store.sha256
        // A remembered manifest names no base, as in two-way sessions.
        memory.acknowledged(delivery.manifest.over(nil), copy: shipment.path(ofPart: 0), by: place + digest.short)
        let all = memory.bases.filter { $0.receiver.hasPrefix(place) }
        let unnamed = all.filter { ![digest, holdings[name]?.store].contains($0.record.sha256) }
        memory.memory.forget(
            unnamed.sorted { $0.record.rememberedAt > $1.record.rememberedAt }.dropFirst(Self.mostUnnamed))
    }
}

extension HoldingsFile {
    /// - Parameter path: `-` for standard input.
    /// - Throws: `.badHoldings`, `.link(.file)`.
    public static func read(at path: FilePath) throws(ShipmentError) -> HoldingsFile {
        let bytes: [UInt8]
        do {
            bytes = try path == "-" ? read(.standardInput) : read(path)
        } catch {
            if Task.isCancelled { throw .stopped }
            throw .link(.file(FileError(.read, path, error as? Errno ?? .ioError)))
        }
        do throws(ProtocolError) {
            return try HoldingsFile(decoding: bytes)
        } catch .badMessage(_, let flaw) {
            throw .badHoldings(path, flaw: flaw)
        } catch {
            throw .badHoldings(path, flaw: "it is no such file")
        }
    }

    private static func read(_ path: FilePath) throws -> [UInt8] {
        // Without waiting for whoever opens a named pipe to write into it: that may be nobody.
        let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
        return try file.closeAfter { try read(file) }
    }

    /// How long a pipe may give nothing.
    private static let patience = Duration.seconds(10)
    /// The same of standard input: who writes into it may have to log in somewhere first.
    private static let patienceWithInput = Duration.seconds(60)

    /// - Returns: `nil` if there is nothing yet; 0 at the end.
    private static func read(_ file: FileDescriptor, into piece: inout [UInt8]) throws -> Int? {
        guard PlatformCalls.hasInput(file) else { return nil }
        do {
            return try piece.withUnsafeMutableBytes { try file.read(into: $0) }
        } catch Errno.wouldBlock {
            // Another process was faster.
            return nil
        }
    }

    /// - Returns: One byte more than there may be, at most.
    private static func read(_ file: FileDescriptor) throws -> [UInt8] {
        let most = Limits.messageSize + 1
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        let patience = file == .standardInput ? patienceWithInput : patience
        var start = ContinuousClock.now
        while bytes.count < most {
            let count = try read(file, into: &piece)
            // A pipe that nobody has opened for writing is at its end from the start.
            guard let count, count > 0 || !bytes.isEmpty || !isPipe(file) else {
                guard .now - start < patience, !Task.isCancelled else { throw Errno.timedOut }
                PlatformCalls.pause(.milliseconds(10))
                continue
            }
            guard count > 0 else { break }
            start = .now
            bytes += piece.prefix(min(count, most - bytes.count))
        }
        return bytes
    }

    private static func isPipe(_ file: FileDescriptor) -> Bool {
        (try? PlatformCalls.status(of: file, "").kind) == .pipe
    }
}
