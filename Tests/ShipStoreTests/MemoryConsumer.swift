import Crypto
import DeviceTrust
import ShipCompression
import ShipProtocol
import StoreInbox
import StoreInstall
import SystemPackage
import TestSupport

@testable import ShipStore

/// A consumer that installs nothing: frames are cut, the dialogue is kept, blocks are decoded, and the digests of what comes
/// are compared with the manifest; rows are made into a store once all have come. A value, so that many ways of going on can
/// begin at one point.
struct MemoryConsumer {
    private(set) var dialogue: ConsumerDialogue
    private(set) var manifest: Manifest?
    /// Who has signed it.
    private(set) var signer: DeviceIdentifier?
    /// All parts are as the manifest says.
    private(set) var isInstalled = false
    /// The segments of a store that comes by its rows.
    private var segments: [[UInt8]] = []
    /// They come to no store, or to another one.
    private var isStoreUnmade = false
    private var skipped: Set<Int> = []
    private var parser = FrameParser()
    private var decoder = BlockDecoder()
    private var parts: [Int: (size: Int64, hash: SHA256)] = [:]

    /// - Parameter forms: As its greeting says.
    init(taking forms: Set<StoreForm> = [.plain, .columns]) {
        dialogue = ConsumerDialogue(taking: forms)
    }

    /// - Throws: What the session ends with.
    mutating func receive(_ bytes: [UInt8]) throws(ShipmentError) {
        do {
            parser.append(bytes)
            while let element = try parser.next() { try act(try dialogue.receive(element)) }
        } catch {
            throw ShipmentError(error)
        }
    }

    mutating func linkEnded() throws(ShipmentError) {
        do {
            try parser.finish()
            try act(try dialogue.linkEnded())
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Two-way: the consumer has sent ACCEPT.
    mutating func accept(skipping skipped: Set<Int>) {
        self.skipped = skipped
        dialogue.accept(skipping: skipped)
    }

    /// Two-way: the consumer has sent ACCEPT once more.
    mutating func askAgain() -> Acceptance? {
        guard isStoreUnmade else { return nil }
        isStoreUnmade = false
        return dialogue.askAgain()
    }

    private mutating func act(_ action: ConsumerDialogue.Action?) throws {
        switch action {
        case nil, .greet: break
        case .consider(let manifest):
            if let signature = dialogue.signature, let payload = parser.signedPayload, let version = dialogue.version {
                signer = try signature.signer(ofManifest: payload, version: version)
            }
            self.manifest = manifest
            if dialogue.mode == .oneWay { dialogue.accept() }
        case .appendRows(let columns): segments.append(columns.segment)
        case .startAgain(let block):
            segments = []
            try append(block)
        case .append(let block): try append(block)
        case .install:
            do {
                try makeStore()
            } catch  where dialogue.mode == .twoWay {
                isStoreUnmade = true
                return
            }
            try compare()
            isInstalled = true
        case .discard(let reason): throw ShipmentError.givenUp(reason)
        }
    }

    /// - Throws: `CompressionError` for rows that make no store, `.mismatch` for those that make another one.
    private mutating func makeStore() throws {
        guard !segments.isEmpty, let facts = manifest?.store else { return }
        let pages = MemoryPages(pageSize: facts.pageSize)
        let builder = StoreBuilder(pageSize: facts.pageSize, pageCount: UInt32(clamping: facts.pageCount)) { _ in pages
        }
        let segments = segments
        self.segments = []
        for segment in segments { try builder.append(segment) }
        guard builder.isComplete else { throw CompressionError.damaged(.rows) }
        var hash = SHA256()
        hash.update(data: pages.bytes)
        parts[0] = (Int64(pages.bytes.count), hash)
        guard Array(hash.finalize()) == facts.sha256.bytes else { throw ShipmentError.install(.mismatch("part 0")) }
    }

    private mutating func append(_ block: Block) throws {
        let decoded = try decoder.decode(block)
        var part = parts[Int(block.part)] ?? (0, SHA256())
        part.size += Int64(decoded.count)
        part.hash.update(data: decoded)
        parts[Int(block.part)] = part
    }

    private func compare() throws(ShipmentError) {
        for (index, part) in (manifest?.parts ?? []).enumerated() where !skipped.contains(index) {
            let found = parts[index] ?? (0, SHA256())
            guard found.size == part.size, Array(found.hash.finalize()) == part.sha256.bytes else {
                throw .install(.mismatch(FilePath("part \(index)")))
            }
        }
    }

    /// What is there in the end, as vectors state it: `1 40000 00b7...`, or `1 skipped`.
    var partLines: [String] {
        guard isInstalled, let manifest else { return [] }
        return manifest.parts.enumerated().map { index, part in
            skipped.contains(index) ? "\(index) skipped" : "\(index) \(part.size) \(part.sha256)"
        }
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
