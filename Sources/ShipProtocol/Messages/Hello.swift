/// The payload of HELLO, the consumer's first message: what it supports, and what it holds.
///
/// Source: `Protocol/README.md` section 5.1. Vectors: `hello_*`.
package struct Hello: Hashable, Sendable {
    package let software: ForeignText
    /// The encodings that it supports beside the mandatory ones, the preferred one first.
    package let encodings: [ForeignText]?
    /// Its holdings of each store, for manifests and deltas to refer to.
    package let holds: [HeldStore]?
    /// How often it wants to hear a producer that stays between shipments, in seconds; `nil` if it does not wait for one.
    package let stays: Int?
    /// Its use of signatures; `nil` if no SIGNATURE may come.
    package let signatures: ForeignText?

    /// The uses that a consumer of a two-way session has for signatures.
    package enum Signatures: String, Hashable, Sendable {
        /// It takes shipments that another device has signed than the one that brings them.
        case taken
        /// It wants each shipment to be signed, too, because it passes them on.
        case wanted
    }

    package struct HeldStore: Hashable, Sendable, Codable {
        package let name: StoreName
        /// Content of the current generation's manifest.
        package let manifest: ManifestContent.ID?
        /// Contents of kept generations' manifests, the newest first, in short form.
        package let kept: [ManifestContent.ID.Start]?
        /// Content of the manifest of a shipment that broke off and may go on.
        package let unfinished: ManifestContent.ID.Start?

        package init(
            name: StoreName, manifest: ManifestContent.ID?, kept: [ManifestContent.ID.Start] = [],
            unfinished: ManifestContent.ID.Start? = nil
        ) {
            self.name = name
            self.manifest = manifest
            self.kept = kept.isEmpty ? nil : Array(kept.prefix(Limits.keptGenerations))
            self.unfinished = unfinished
        }
    }

    /// - Parameters:
    ///   - encodings: What the consumer supports.
    ///   - interval: How often it wants to hear a producer that stays; `nil` if it does not wait for one.
    ///   - signatures: What it does with signatures; `nil` if none may come.
    package init(
        software: String, taking encodings: CommonEncodings, holds: [HeldStore], staying interval: Duration? = nil,
        signatures: Signatures? = nil
    ) {
        self.software = ForeignText(software)
        let optional = encodings.all.filter { !$0.isMandatory }.map(\.name)
        self.encodings = optional.isEmpty ? nil : optional
        self.holds = holds.isEmpty ? nil : Array(holds.prefix(Limits.heldStores))
        stays = interval.map { Stay(every: $0).interval }
        self.signatures = signatures.map { ForeignText($0.rawValue) }
    }

    /// Its use of signatures, as far as this version knows that.
    package var knownSignatures: Signatures? { signatures.flatMap { Signatures(rawValue: $0.unescaped) } }
}

extension Hello: Message {
    var firstFlaw: String? {
        let encodings = encodings ?? []
        let labels = [software] + encodings + [signatures].compactMap(\.self)
        guard labels.allSatisfy(\.isLabel) else { return "not a label" }
        guard encodings.count <= Limits.features else { return "too many names" }
        guard stays.map(Stay.intervals.contains) != false else { return "stays is out of 1...3600" }
        let holds = holds ?? []
        guard holds.count <= Limits.heldStores else { return "too many stores" }
        guard holds.allSatisfy({ $0.manifest != nil || $0.kept != nil || $0.unfinished != nil }) else {
            return "a store that is not held"
        }
        return holds.allSatisfy({ (1...Limits.keptGenerations).contains($0.kept?.count ?? 1) })
            ? nil : "a number of kept generations out of 1...\(Limits.keptGenerations)"
    }
}

/// The holdings of one sender's stores, as a file that goes back to the sender: in one-way mode deltas may refer to it. Nothing proves who
/// has written the file.
///
/// Source: `Protocol/README.md` section 5.6. Vectors: `holdings_*`.
public struct HoldingsFile: Hashable, Sendable {
    /// Name and version of the consumer's program.
    public let software: ForeignText
    public let createdAt: Timestamp
    /// Until when the consumer keeps what the file names.
    public let until: Timestamp
    /// The id of the sender's device; `nil` if the consumer does not know it.
    public let sender: ContentDigest?
    /// The id of the consumer's device, if it has one.
    public let receiver: ContentDigest?
    /// Strictly rising by name.
    public let holds: [Held]

    /// The current generation of a store.
    public struct Held: Hashable, Sendable, Codable {
        public let name: StoreName
        package let manifest: ManifestContent.ID
        public let store: ContentDigest
        /// Of the store, in bytes.
        public let size: Int64

        package init(of manifest: Manifest) {
            name = manifest.name
            self.manifest = ManifestContent(of: manifest).id
            store = manifest.store.sha256
            size = manifest.store.size
        }
    }

    /// - Parameter holds: In any order; beyond `Limits.holdings` the last by name are left out.
    package init(
        software: String, createdAt: Timestamp, until: Timestamp, sender: ContentDigest?, receiver: ContentDigest?,
        holds: [Held]
    ) {
        self.software = ForeignText(software)
        self.createdAt = createdAt
        self.until = until
        self.sender = sender
        self.receiver = receiver
        self.holds = Array(holds.sorted { $0.name < $1.name }.prefix(Limits.holdings))
    }

    /// - Parameter bytes: The whole file.
    /// - Throws: `.badMessage`.
    package init(decoding bytes: [UInt8]) throws(ProtocolError) {
        guard bytes.count <= Limits.messageSize else {
            throw FrameType.hello.bad("it is longer than \(Limits.messageSize) bytes")
        }
        self = try HoldingsFile.decode(bytes[...], as: .hello)
    }

    package subscript(_ name: StoreName) -> Held? { holds.first { $0.name == name } }
}

extension HoldingsFile: Message {
    private enum CodingKeys: String, CodingKey {
        case software, createdAt, until, receiver, holds
        case sender = "for"
    }

    var firstFlaw: String? {
        guard software.isLabel else { return "software is not a label" }
        guard holds.count <= Limits.holdings else { return "more than \(Limits.holdings) stores" }
        guard zip(holds, holds.dropFirst()).allSatisfy({ $0.name < $1.name }) else { return "names that do not rise" }
        return holds.allSatisfy { (0...Limits.partSize).contains($0.size) }
            ? nil : "the size of a store is out of range"
    }
}
