import Crypto
import ShipCompression
import ShipProtocol
import StoreInbox
import StoreInstall
import SystemPackage

@testable import ShipStore

/// A consumer that installs nothing: frames are cut, the dialogue is kept, blocks are decoded, and the digests of what comes
/// are compared with the manifest. Rows come to nothing. A value, so that many ways of going on can begin at one point.
struct MemoryConsumer {
    private(set) var dialogue: ConsumerDialogue
    private(set) var manifest: Manifest?
    /// All parts are as the manifest says.
    private(set) var isInstalled = false
    /// The store came by its rows, of which this consumer makes none.
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
            self.manifest = manifest
            if dialogue.mode == .oneWay { dialogue.accept() }
        case .appendRows: isStoreUnmade = true
        case .startAgain(let block):
            isStoreUnmade = false
            try append(block)
        case .append(let block): try append(block)
        case .install where isStoreUnmade && dialogue.mode == .twoWay: break
        case .install:
            try compare()
            isInstalled = true
        case .discard(let reason): throw ShipmentError.givenUp(reason)
        }
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
        case .refused(let reason), .givenUp(let reason): reason.code
        default: refusal?.code
        }
    }
}
