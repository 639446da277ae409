import ShipLinks
import ShipProtocol
import StoreBases
import StoreFiles
import SystemPackage

/// Makes the shipments of one version, each in a file, and puts them into the storage.
final class StepMaker {
    private let shipment: OutgoingShipment
    private let content: ManifestContent.ID
    private let counter: UInt64
    private let publisher: Publisher
    private let folder: TemporaryFolder
    /// How many files have been made.
    private var files = 0
    /// Bytes of the objects that were put.
    private(set) var bytesSent: Int64 = 0

    /// The longest shipment that stands in a head, in bytes.
    private static let longestInHead: Int64 = 4096

    struct ShipmentFile {
        /// Without an object.
        let step: PublishedStep
        let path: FilePath
        let encoded: EncodedStore?
        /// The step with its shipment; `nil` if that is too long to stand in a head.
        let inHead: InlineStep?
    }

    init(
        of shipment: OutgoingShipment, _ content: ManifestContent.ID, _ counter: UInt64, _ publisher: Publisher
    ) throws(FileError) {
        (self.shipment, self.content, self.counter, self.publisher) = (shipment, content, counter, publisher)
        folder = try TemporaryFolder(in: publisher.producer.options.copy.temporaryFolder)
    }

    /// Makes the shipment that brings a receiver from one content to this.
    ///
    /// - Returns: `nil` if what has changed is no smaller than the whole, or the remembered copy is gone.
    func step(over copy: RememberedCopy) async throws -> ShipmentFile? {
        let options = shipment.options
        guard options.encoding == .columns, copy.content.id != content else { return nil }
        let made = try await make(over: copy)
        return made.encoded?.encoding == .delta ? made : nil
    }

    /// Makes the shipment that needs nothing.
    func whole() async throws -> ShipmentFile { try await make(over: nil) }

    private func make(over copy: RememberedCopy?) async throws -> ShipmentFile {
        let (version, base, start) = (shipment.version, copy.map { OutgoingBase($0) }, copy?.content)
        // A one-way shipment names its base.
        let based = StoreVersion(
            copy.map { version.manifest.over($0.manifest) } ?? version.manifest,
            at: version.manifest.parts.indices.map(version.path), version.indexShapes, keptBy: version)
        let oneWay = Answer(to: based.manifest, without: Set(based.manifest.repeated(from: copy?.manifest).keys))
        var options = shipment.options
        if copy == nil { options.effort = options.effort.ofWhole(storeSize: version.manifest.store.size) }
        let session = ProducerSession(
            timeouts: options.timeouts, signer: publisher.identity, authorization: .ofNobody, report: { _ in })
        let path = newFile()
        let delivery = try await PeerLink.withLink(toFile: path, over: .anything) { [options] link in
            let order = ProducerSession.Order(
                prepare: { OutgoingShipment(based, options, oneWay: oneWay) { [base].compactMap(\.self) } })
            return try await session.run(link, [order]).results.map { try $0.get() }.first
        }
        guard let delivery else { throw BrokenInvariant("a session of one shipment had none") }
        let size = try PlatformCalls.status(of: path).size
        let step = PublishedStep(from: start?.id, to: content, counter: counter, size: size, sha256: nil)
        let bytes =
            size <= Self.longestInHead ? try OpenFile.readingWithoutFollowing(path).read(Int(size), at: 0) : nil
        return ShipmentFile(
            step: step, path: path, encoded: delivery.store,
            inHead: try bytes.map {
                try InlineStep(
                    from: start?.id, to: content, counter: counter, file: $0, over: start, signedBy: publisher.sign)
            })
    }

    private func newFile() -> FilePath {
        files += 1
        return folder.path.appending("\(files)")
    }

    // MARK: Objects

    func put(_ made: ShipmentFile) async throws -> PublishedStep {
        let object = PublishedObject(sha256: try ContentDigest(ofFile: made.path), size: made.step.size)
        try await publisher.storage.put(object, from: made.path, as: object.sha256)
        bytesSent += object.size
        return made.step.stored(as: object)
    }

    func put(_ catalog: StoreCatalog) async throws -> PublishedObject {
        let bytes = catalog.encoded
        guard (try? StoreCatalog(decoding: bytes)) != nil else { throw PublicationError.tooMany(publisher.place) }
        return try await put(bytes)
    }

    /// Puts the shipments of steps into one object.
    ///
    /// - Returns: `nil` for no steps.
    func put(bundled steps: [InlineStep]) async throws -> PublishedObject? {
        steps.isEmpty ? nil : try await put(steps.bundle(by: ContentDigest(sha256: publisher.identity.id.bytes)))
    }

    private func put(_ bytes: [UInt8]) async throws -> PublishedObject {
        let object = try await publisher.storage.put(bytes, by: newFile())
        bytesSent += object.size
        return object
    }
}
