import Crypto
import DeviceTrust
import ShipCompression
import ShipProtocol
import StoreEncoding
import StoreInbox
import StoreInstall
import SystemPackage
import TestSupport

@testable import ShipStore

/// A consumer that installs nothing: frames are cut, the dialogue is kept, parts are decoded, and the digests of what comes
/// are compared with the manifests; rows are made into a store once all have come. A value, so that many ways of going on can
/// begin at one point.
struct MemoryConsumer {
    private(set) var dialogue: ConsumerDialogue
    /// What became of each shipment, as vectors state it: `shipment: Recipes installed`, `part: 1 40000 00b7...`.
    private(set) var lines: [ProtocolVector.Field] = []
    /// What it would refuse, or has refused, each shipment with that did not come to what it should.
    private(set) var refusals: [ShipmentError] = []
    /// Two-way: everything has come, and the last word is awaited.
    private var isSealing = false
    /// What is wrong with what has come.
    private var flaw: ShipmentError?

    private let common: CommonEncodings
    /// What is done with the shipment that comes.
    private var incoming: ReceivingDialogue?
    private var signer: DeviceIdentifier?
    private var wanted: Set<Int> = []
    private var parser = FrameParser()
    private var contents: [ManifestContent] = []
    private var stores: [ContentDigest: [UInt8]] = [:]
    /// External files, by the stores with which they are held.
    private var files: [ContentDigest: [[UInt8]]] = [:]
    private var lastStore: ContentDigest?
    private var streams: [WaitingShipment.Stream] = []
    /// What the store may refer to, and external files.
    private var base: [UInt8]?
    private var filesBase: ContentDigest?
    private var parts: [Int: Part] = [:]
    private var open: Int?
    /// Everything that has been installed.
    private var installed: [Manifest] = []
    /// What is held of each store, the current one last, and the device that it is from, if that is known.
    private var generations: [(manifest: Manifest, device: ContentDigest?)] = []

    private struct Part {
        let encoding: PartEncoding
        var decoder: BlockDecoder
        var segments: [[UInt8]] = []
        /// Of the last DATA, where an earlier session has brought its beginning.
        var cut: (data: [UInt8], size: Int)?
        var size: Int64 = 0
        var bytes: [UInt8] = []
        var hash = SHA256()
    }

    /// - Parameters:
    ///   - common: As its greeting says.
    ///   - signatures: The same.
    init(
        taking common: CommonEncodings = CommonEncodings([.columns, .delta]), signatures: Hello.Signatures? = nil
    ) {
        self.common = common
        dialogue = ConsumerDialogue(taking: common, signatures: signatures)
    }

    /// Whether all that came has been installed, and something has.
    var isInstalled: Bool { !installed.isEmpty && refusals.isEmpty }

    /// - Throws: What the session ends with.
    mutating func receive(_ bytes: [UInt8]) throws(ShipmentError) {
        do {
            parser.append(bytes)
            while true {
                do {
                    guard let element = try parser.next() else { return }
                    if incoming == nil {
                        try act(try dialogue.receive(element))
                    } else {
                        try act(try incoming?.receive(element))
                    }
                } catch {
                    try refuse(ShipmentError(error))
                }
            }
        } catch {
            throw ShipmentError(error)
        }
    }

    mutating func linkEnded() throws(ShipmentError) {
        do {
            try parser.finish()
            guard incoming == nil else { throw ProtocolError.truncated }
            try dialogue.linkEnded()
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Refuses one shipment, if that is enough.
    private mutating func refuse(_ failure: ShipmentError) throws {
        guard failure.endsShipmentAlone, incoming != nil, let code = failure.code else { throw failure }
        refusals.append(failure)
        end("refused \(code)")
    }

    private mutating func end(_ end: String) {
        guard let incoming else { return }
        dialogue.end(of: incoming)
        lines.append(.init(key: "shipment", value: "\(incoming.manifest.name) \(end)"))
        if let signer, dialogue.mode == .oneWay {
            lines.append(.init(key: "signer", value: "\(ContentDigest(sha256: signer.bytes))"))
        }
        (self.incoming, signer, parts, open, isSealing, flaw) = (nil, nil, [:], nil, false, nil)
    }

    /// What was offered last: answers may refer to it.
    var offer: [ManifestContent] { parser.offer }

    /// It has this store, and may name it as what a delta refers to.
    mutating func hold(_ store: [UInt8]) {
        lastStore = ContentDigest(hashing: store)
        stores[ContentDigest(hashing: store)] = store
    }

    /// It has this external file of that store.
    mutating func hold(file: [UInt8]) {
        if let lastStore { files[lastStore, default: []].append(file) }
    }

    /// This waits for the rest.
    mutating func hold(_ stream: WaitingShipment.Stream) { streams.append(stream) }

    /// It has this, and may name it.
    mutating func hold(_ content: ManifestContent) { contents.append(content) }

    /// This generation is there, from a device if that is known.
    mutating func hold(_ manifest: Manifest, from device: ContentDigest?) { generations.append((manifest, device)) }

    // MARK: Two-way: what the consumer has sent

    mutating func sent(_ hello: Hello) {
        let named = Set((hello.holds ?? []).compactMap(\.manifest))
        let kept = Set((hello.holds ?? []).flatMap { ($0.kept ?? []) + ($0.unfinished.map { [$0] } ?? []) })
        for content in contents where named.contains(content.id) || kept.contains(content.id.start) {
            _ = parser.held.hold(content)
        }
    }

    /// - Returns: Whether it fits what has come.
    mutating func sent(_ answer: Answer) throws -> Bool {
        if isSealing {
            (isSealing, flaw) = (false, nil)
            guard let wants = answer.wants else { return false }
            _ = try incoming?.ask(
                for: wants.map { want in
                    WantedPart(
                        want.part,
                        (want.encodings ?? []).compactMap { name in
                            PartEncoding.allCases.first { $0.name == name }
                        })
                })
            return true
        }
        guard let manifest = incoming?.manifest else { return false }
        wanted = Set(try common.wanted(by: answer, of: manifest).map(\.index))
        base = answer.wants?.first { $0.part == 0 }?.base.flatMap { stores[$0] }
        filesBase = answer.wants?.lazy.filter { $0.part > 0 }.compactMap(\.base).first
        try incoming?.accept(answer)
        return true
    }

    /// - Returns: Whether it fits what has come.
    mutating func sent(_ receipt: Receipt) -> Bool {
        guard receipt.outcome == .installed else {
            end("unchanged")
            return true
        }
        let isWhole = isSealing && flaw == nil
        if let manifest = incoming?.manifest { parser.held.install(manifest) }
        install()
        return isWhole
    }

    /// - Parameter reason: Of a refusal of one shipment that has not been known.
    mutating func sent(refusal reason: Reason) {
        end("refused \(reason.code.unescaped)")
    }

    /// What the next refusal is for, if it follows from what came.
    mutating func takeRefusal() -> ShipmentError? {
        if let flaw, isSealing {
            try? refuse(flaw)
        }
        return refusals.isEmpty ? nil : refusals.removeFirst()
    }

    // MARK: What comes

    private mutating func act(_ action: ConsumerDialogue.Action?) throws {
        switch action {
        case nil, .greet, .finish, .note: break
        case .consider(let shipment):
            incoming = shipment
            signer = nil
            try shipment.manifest.checkRequirements()
            if let signature = shipment.signature, let payload = parser.signedPayload, let version = dialogue.version {
                signer = try signature.signer(ofManifest: payload, version: version)
            }
            if dialogue.mode == .oneWay {
                let repeated = shipment.manifest.repeated(from: try findBase(of: shipment.manifest))
                wanted = Set(shipment.manifest.parts.indices.filter { repeated[$0] == nil })
                try incoming?.accept(Answer(to: shipment.manifest, without: Set(repeated.keys)))
            }
        case .stop(let reason): throw ShipmentError.givenUp(reason)
        }
    }

    /// One-way: what the manifest refers to.
    private mutating func findBase(of manifest: Manifest) throws -> Manifest? {
        base = nil
        guard let named = manifest.base else { return nil }
        let producer = signer.map { ContentDigest(sha256: $0.bytes) }
        let held = generations.filter { $0.device == producer }.map(\.manifest).first {
            ($0.name, $0.store.sha256) == (manifest.name, named.sha256)
                && (named.content ?? ManifestContent(of: $0).id) == ManifestContent(of: $0).id
        }
        guard let held else { throw ShipmentError.missingBase(manifest.name, named.sha256) }
        base = stores[named.sha256]
        return held
    }

    private mutating func act(_ action: ReceivingDialogue.Action?) throws {
        switch action {
        case nil, .compare: break
        case .open(let part, let encoding, let position):
            guard let facts = incoming?.manifest.parts[part] else { return }
            parts[part] = Part(encoding: encoding, decoder: BlockDecoder(size: facts.size))
            open = part
            guard position > 0 else { return }
            let stream = streams.first { $0.encoding == encoding && $0.part == facts && $0.count >= position }
            for piece in stream?.prefix(position) ?? [] {
                if piece.data.count < piece.size {
                    parts[part]?.cut = piece
                } else {
                    try append(piece.data, isLast: false)
                }
            }
        case .append(let data, let isLast): try append(data, isLast: isLast)
        case .install:
            do {
                try makeParts()
                try compare()
            } catch  where dialogue.mode == .twoWay {
                flaw = ShipmentError(error)
            }
            isSealing = true
            guard dialogue.mode == .oneWay else { return }
            install()
        case .discard(let reason):
            end("cancelled \(reason.code.unescaped)")
            if dialogue.mode == .twoWay { refusals.append(.refused(reason)) }
        case .stop(let reason): throw ShipmentError.givenUp(reason)
        }
    }

    private mutating func append(_ data: [UInt8], isLast: Bool) throws {
        guard let open, var part = parts[open] else { return }
        var data = data
        if let cut = part.cut {
            guard cut.data.count + data.count == cut.size else {
                throw ProtocolError.badPart("what follows is not the rest of what was cut")
            }
            data = cut.data + data
            part.cut = nil
        }
        switch part.encoding {
        case .columns, .delta: part.segments.append(data)
        case .blocks:
            let decoded = try part.decoder.decode(data, isLast: isLast)
            part.bytes += decoded
            part.size += Int64(decoded.count)
            part.hash.update(data: decoded)
        }
        parts[open] = part
        let bytes = part.segments.reduce(0) { $0 + $1.count }
        guard Int64(bytes) <= (incoming?.manifest.parts[open].size ?? 0) + Limits.segmentsOverhead else {
            throw ProtocolError.badPart("it is longer than it may be")
        }
    }

    /// - Throws: `CompressionError` for segments that make no part.
    private mutating func makeParts() throws {
        var flaw: (any Error)?
        for (index, part) in parts.sorted(by: { $0.key < $1.key }) where part.encoding != .blocks {
            do {
                let bytes = try index == 0 ? store(of: part) : file(of: part, index)
                var made = part
                (made.bytes, made.size, made.hash) = (bytes, Int64(bytes.count), SHA256())
                made.hash.update(data: bytes)
                parts[index] = made
            } catch {
                flaw = flaw ?? error
            }
        }
        if let flaw { throw flaw }
    }

    private func file(of part: Part, _ index: Int) throws -> [UInt8] {
        let held = filesBase.flatMap { files[$0] } ?? []
        var bytes: [UInt8] = []
        let builder = FileDeltaBuilder(size: incoming?.manifest.parts[index].size ?? 0) { name in
            guard let source = held.first(where: { ContentDigest(hashing: $0).bytes.starts(with: name) }) else {
                throw CompressionError.damaged(.base)
            }
            return MemoryBytes(bytes: source)
        } write: {
            bytes += $0
        }
        for segment in part.segments { try builder.append(segment) }
        try builder.finish()
        return bytes
    }

    private struct MemoryBytes: ByteSource {
        let bytes: [UInt8]
        var size: Int64 { Int64(bytes.count) }

        func append(_ range: Range<Int64>, to other: inout [UInt8]) {
            other += bytes[Int(range.lowerBound)..<Int(range.upperBound)]
        }
    }

    private func store(of part: Part) throws -> [UInt8] {
        guard let facts = incoming?.manifest.store else { return [] }
        let pages = MemoryPages(pageSize: facts.pageSize)
        let pageCount = UInt32(clamping: facts.pageCount)
        if part.encoding == .delta {
            guard let base else { throw CompressionError.damaged(.base) }
            let builder = DeltaBuilder(base: try MemoryPages(base), pageSize: facts.pageSize, pageCount: pageCount) {
                _ in pages
            }
            for segment in part.segments { try builder.append(segment) }
            try builder.finish()
        } else {
            let builder = StoreBuilder(pageSize: facts.pageSize, pageCount: pageCount) { _ in pages }
            for segment in part.segments { try builder.append(segment) }
            guard builder.isComplete else { throw CompressionError.damaged(.rows) }
        }
        return pages.bytes
    }

    private func compare() throws(ShipmentError) {
        for (index, part) in (incoming?.manifest.parts ?? []).enumerated() where wanted.contains(index) {
            let (size, hash) = parts[index].map { ($0.size, $0.hash) } ?? (0, SHA256())
            guard size == part.size, Array(hash.finalize()) == part.sha256.bytes else {
                throw .install(.mismatch(FilePath("part \(index)")))
            }
        }
    }

    private mutating func install() {
        guard let manifest = incoming?.manifest else { return }
        let parts = manifest.parts.enumerated().map { index, part in
            // One way, what does not come is taken from the base.
            let came = part.size == 0 || wanted.contains(index) || dialogue.mode == .oneWay
            return ProtocolVector.Field(
                key: "part", value: came ? "\(index) \(part.size) \(part.sha256)" : "\(index) skipped")
        }
        if let store = self.parts[0] { hold(store.bytes) }
        let isSame =
            generations.last { $0.manifest.name == manifest.name }?.manifest.hasSameContent(as: manifest) == true
        installed.append(manifest)
        generations.append((manifest, signer.map { ContentDigest(sha256: $0.bytes) }))
        end(isSame && dialogue.mode == .oneWay ? "unchanged" : "installed")
        if !isSame || dialogue.mode == .twoWay { lines += parts }
    }
}

extension ShipmentError {
    /// The code of `Protocol/README.md` section 7, or the other side's own.
    var code: String? {
        switch self {
        case .refused(let reason), .givenUp(let reason): reason.code.unescaped
        default: refusal?.code.unescaped
        }
    }
}

extension ProtocolVector {
    /// What became of each shipment.
    var shipmentLines: [Field] { fields.filter { ["shipment", "signer", "part"].contains($0.key) } }
}
