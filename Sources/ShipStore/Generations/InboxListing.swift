public import DeviceTrust
import EssentialFoundation
public import ShipProtocol
import StoreFiles
public import StoreInbox
import StoreInstall
public import SystemPackage

/// The generations of an inbox, and the shipments that broke off: `list`.
extension Inbox {
    /// One generation, and what is known of it beyond its manifest.
    public struct Entry: Hashable, Sendable {
        public let generation: Generation
        public let isCurrent: Bool
        /// By this device's clock.
        public let installedAt: Timestamp
        /// Whether a reader holds it; `nil` if that cannot be told.
        public let isHeld: Bool?
        /// Until when it stays, as a holdings file told its sender; `nil` without one.
        public let leasedUntil: Timestamp?
        /// When the operator went back to it, if shipments of its store are refused since; `nil` otherwise.
        public let onHoldSince: Timestamp?
        /// When it was rolled back, if shipments of its store are refused since; `nil` otherwise.
        public let rolledBackAt: Timestamp?
        /// Whether the operator of this device has put it there: see `Consumer.adopt`.
        public let isAdopted: Bool
        /// The device that made it, where that was proven.
        public let producer: DeviceIdentifier?
        /// That device's number of the shipment, if it is known.
        public let counter: UInt64?
        /// How old it is; `nil` for one that is not current.
        public let age: CopyAge?
    }

    /// The content of an inbox.
    public struct Listing: Sendable {
        /// Sorted by name, then the oldest first.
        public fileprivate(set) var entries: [Entry] = []
        /// The folders of generations that cannot be read, and of stores that are not well, and why.
        public fileprivate(set) var damaged: [(name: StoreName, path: FilePath, problem: InboxError)] = []
        /// Why it is not known of a store what an operator has gone back from.
        public fileprivate(set) var badRecords: [InboxError] = []
        /// Others' files among the stores, which are passed over.
        public fileprivate(set) var strangers: [FilePath] = []
    }

    /// - Throws: If there is no inbox, or it cannot be read at all.
    public func listing() throws(ShipmentError) -> Listing {
        try ShipmentError.wrapping {
            var listing = Listing()
            for name in try storeNames() { try list(name, into: &listing) }
            listing.strangers = try open().strangers()
            return listing
        }
    }

    private func list(_ name: StoreName, into listing: inout Listing) throws(InboxError) {
        let folder = try open()
        var record = RollbackRecord.empty
        do throws(InboxError) { record = try folder.rollbackRecord(of: name) } catch {
            listing.badRecords.append(error)
        }
        let current = try folder.currentName(of: name)?.number
        let lease = folder.leaseRecord(of: name)
        for path in try generationPaths(of: name) {
            let generation: Generation
            do throws(InboxError) {
                generation = try Generation(at: path)
            } catch {
                // It may have been pruned since.
                if (try? PlatformCalls.status(of: path)) != nil {
                    listing.damaged.append((name, path, error.asOfInbox))
                }
                continue
            }
            if let entry = entry(
                generation, name, isCurrent: generation.number == current, record, lease, in: folder,
                isHeld: generation.isHeld)
            {
                listing.entries.append(entry)
            }
        }
        do throws(InboxError) {
            _ = try currentEntry(of: name, in: folder)
        } catch {
            if listing.damaged.contains(where: { $0.problem == error }) { return }
            listing.damaged.append((name, folder.layout.store(name), error))
        }
    }

    /// The facts about a generation; `nil` if it is gone.
    func entry(
        _ generation: Generation, _ name: StoreName, isCurrent: Bool, _ record: RollbackRecord, _ lease: LeaseRecord?,
        in folder: InboxFolder, isHeld: Bool?
    ) -> Entry? {
        guard let installedAt = generation.installedAt else { return nil }
        // An unreadable record is left out here: shipments report it.
        let origin = (try? Origin.read(ofGenerationAt: generation.path, in: folder.files)).flatMap(\.self)
        return Entry(
            generation: generation, isCurrent: isCurrent, installedAt: Timestamp(installedAt), isHeld: isHeld,
            leasedUntil: lease.flatMap { $0.keeps(generation.folderName) ? $0.until : nil },
            onHoldSince: isCurrent ? record.hold(at: generation.number)?.at : nil,
            rolledBackAt: isCurrent ? nil : record.entry(of: generation.manifest.store.sha256)?.at,
            isAdopted: origin?.isAdopted == true,
            producer: origin?.producer.flatMap { DeviceIdentifier(bytes: $0.bytes) },
            counter: origin.flatMap { $0.isAdopted ? nil : $0.counter },
            age: isCurrent ? folder.age(of: generation.folderName, name) : nil)
    }

    /// A shipment that broke off, and waits to be resumed.
    public struct Waiting: Hashable, Sendable {
        public let manifest: Manifest
        /// The device that sends it, if it is known.
        public let producer: DeviceIdentifier?
        /// The bytes that have come: of complete files, and of the last one as it was encoded.
        public let bytes: Int64
        /// When the last bytes came, by this device's clock.
        public let since: Timestamp

        init(_ found: WaitingShipment) {
            manifest = found.manifest
            producer = found.record.producer.flatMap { DeviceIdentifier(bytes: $0.bytes) }
            bytes = found.bytes
            since = found.record.at
        }
    }

    /// - Returns: Sorted by name.
    public func waiting() throws(ShipmentError) -> [Waiting] {
        try ShipmentError.wrapping {
            let folder = try open()
            return try storeNames().flatMap { folder.waitingShipments(of: $0) }.map(Waiting.init)
        }
    }
}

extension HoldingsFile {
    /// The file that tells a sender which of its stores an inbox holds: `holdings`.
    ///
    /// It names the current generation of each store that came from the sender, and that generation is kept from being pruned.
    ///
    /// - Parameters:
    ///   - inbox: It must be there.
    ///   - sender: Its device; `nil` for senders whose device is not known.
    ///   - receiver: This device.
    ///   - duration: For how long the named generations stay.
    /// - Throws: `.install`, among others with `.storeBusy` if another program keeps a store locked.
    public static func make(
        of inbox: Inbox, for sender: DeviceIdentifier?, by receiver: Device, holding duration: Duration
    ) throws(ShipmentError) -> HoldingsFile {
        let own = try receiver.existingIdentity()?.id
        let now = Date()
        let until = Timestamp(now.addingTimeInterval(duration / .seconds(1)))
        let producer = sender.map { ContentDigest(sha256: $0.bytes) }
        var held: [Held] = []
        func file() -> HoldingsFile {
            HoldingsFile(
                software: Software.name, createdAt: Timestamp(now), until: until, sender: producer,
                receiver: own.map { ContentDigest(sha256: $0.bytes) }, holds: held)
        }
        try ShipmentError.wrapping {
            let folder = try inbox.open()
            for name in try folder.storeNames() where held.count < Limits.holdings {
                do throws(InboxError) {
                    // One store at a time: each has its own lock.
                    let storeLock = try StoreLock(of: name, in: inbox)
                    guard let current = (try? folder.current(of: name)).flatMap(\.self),
                        (try? Origin.mayBeKnown(ofGenerationAt: current.path, in: folder.files, to: producer)) == true
                    else { continue }
                    held.append(Held(of: current.manifest))
                    guard file().jsonBytes.count < Limits.messageSize else {
                        // The file has reached its largest size. What it does not tell is not leased.
                        held.removeLast()
                        break
                    }
                    if try storeLock.leaseCurrent(from: producer, until: until) == nil { held.removeLast() }
                } catch {
                    // It may be removed meanwhile.
                    guard case .noSuchStore = error else { throw error }
                }
            }
        }
        return file()
    }
}
