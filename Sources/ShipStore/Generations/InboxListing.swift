public import DeviceTrust
public import ShipProtocol
import StoreFiles
public import StoreInbox
import StoreInstall
import SystemPackage

extension Generation {
    fileprivate var folderName: GenerationName { GenerationName(number: number, digest: manifest.store.sha256) }
}

/// The stores of an inbox, their generations, and what broke off on its way in: `list`.
public enum InboxListing {
    /// One generation, and what is known of it beside its manifest.
    public struct Entry: Hashable, Sendable {
        public let generation: Generation
        public let isCurrent: Bool
        /// By this device's clock.
        public let installedAt: Timestamp
        /// Whether a reader holds it; `nil` if that cannot be told.
        public let isHeld: Bool?
        /// Until when it stays, as its sender was told in a file; `nil` where none was.
        public let leasedUntil: Timestamp?
        /// When somebody went back from it, if its store is not welcome since; `nil` otherwise.
        public let rolledBackAt: Timestamp?
        /// The device that made it, where that was proven.
        public let producer: DeviceIdentifier?
        /// That device's number of it; `nil` where nobody knows.
        public let counter: UInt64?
    }

    /// - Returns: Sorted by name, then the oldest first.
    public static func entries(of inbox: Inbox) throws(ShipmentError) -> [Entry] {
        do throws(InboxError) {
            var entries: [Entry] = []
            for name in try inbox.storeNames() { entries += try Self.entries(of: name, inbox) }
            return entries
        } catch {
            throw .install(error)
        }
    }

    private static func entries(of name: StoreName, _ inbox: Inbox) throws(InboxError) -> [Entry] {
        // One that cannot be read says nothing: shipments are told, and so is who wants to go back.
        let folder = try inbox.open()
        let record = (try? folder.rollbackRecord(of: name)) ?? .empty
        let current = folder.currentName(of: name)?.number
        let lease = folder.leaseRecord(of: name)
        var entries: [Entry] = []
        for path in try inbox.generationPaths(of: name) {
            let generation: Generation
            do throws(InboxError) {
                generation = try Generation(at: path)
            } catch {
                // Somebody may have pruned it since.
                guard (try? PlatformCalls.status(of: path)) != nil else { continue }
                throw error
            }
            guard let installedAt = generation.installedAt else { continue }
            // What cannot be read says nothing: shipments are told.
            let origin = (try? Origin.read(ofGenerationAt: path, in: folder.files)).flatMap(\.self)
            let isCurrent = generation.number == current
            entries.append(
                Entry(
                    generation: generation, isCurrent: isCurrent, installedAt: Timestamp(installedAt),
                    isHeld: generation.isHeld,
                    leasedUntil: lease.flatMap { $0.keeps(generation.folderName) ? $0.until : nil },
                    rolledBackAt: isCurrent ? nil : record.entry(of: generation.manifest.store.sha256)?.at,
                    producer: origin?.producer.flatMap { DeviceIdentifier(bytes: $0.bytes) }, counter: origin?.counter))
        }
        return entries
    }

    /// A shipment that broke off, and waits for the rest of what it brings.
    public struct Waiting: Hashable, Sendable {
        public let manifest: Manifest
        /// The device that sends it; `nil` where nobody said which.
        public let producer: DeviceIdentifier?
        /// Bytes of it that have come: of files that are whole, and of the last one as it was encoded.
        public let bytes: Int64
        /// When something came last, by this device's clock.
        public let since: Timestamp
    }

    /// - Returns: Sorted by name.
    public static func waiting(in inbox: Inbox) throws(ShipmentError) -> [Waiting] {
        do throws(InboxError) {
            let waiting = WaitingShipments(in: try inbox.open())
            return try inbox.storeNames().flatMap { waiting.all(of: $0) }.map { found in
                Waiting(
                    manifest: found.manifest,
                    producer: found.record.producer.flatMap { DeviceIdentifier(bytes: $0.bytes) }, bytes: found.bytes,
                    since: found.record.at)
            }
        } catch {
            throw .install(error)
        }
    }
}
