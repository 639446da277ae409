import ShipProtocol

/// What a message says, as vectors state it: `value.store.size: 4096`, sorted.
struct DecodedValues {
    private(set) var lines: [String] = []

    init(_ frame: Frame) {
        switch frame {
        case .manifest(let manifest): add(manifest)
        case .hello(let hello): add(hello)
        case .answer(let answer): add(answer)
        case .part(let opening): add(opening)
        case .data(let data):
            add("last", data.isLast)
            add("size", data.bytes.count)
        case .receipt(let receipt): add(receipt)
        case .refusal(let reason), .cancel(let reason):
            add("code", reason.code)
            add("message", reason.message)
            add("ends", reason.scope == .shipment ? "shipment" : "session")
        case .stay(let stay): add("interval", stay.interval)
        case .question(let question):
            add("nonce", question.nonce)
            add("name", question.name)
        case .newest(let newest):
            add("nonce", newest.nonce)
            add("content", newest.content.hex)
        case .compare(let content), .ranges(let content): add("size", content.count)
        case .signature, .end, .working, .askable: break
        }
        lines.sort()
    }

    init(_ preamble: Preamble) {
        add("version", preamble.versions.upperBound)
        add("lowestVersion", preamble.versions.lowerBound)
        add("role", preamble.role == .producer ? "producer" : "consumer")
        add("mode", preamble.mode == .oneWay ? "one-way" : "two-way")
        lines.sort()
    }

    init(_ file: HoldingsFile) {
        add("software", file.software)
        add("createdAt", file.createdAt)
        add("until", file.until)
        add("for", file.sender)
        add("receiver", file.receiver)
        addAll("holds", file.holds) { lines, path, held in
            lines.add("\(path).name", held.name)
            lines.add("\(path).manifest", held.manifest.hex)
            lines.add("\(path).store", held.store)
            lines.add("\(path).size", held.size)
        }
        lines.sort()
    }

    private mutating func add(_ path: String, _ value: (some CustomStringConvertible)?) {
        if let value { lines.append("value.\(path): \(value)") }
    }

    private mutating func add(_ path: String, _ value: ForeignText?) { add(path, value?.unescaped) }

    private mutating func add(_ manifest: Manifest) {
        add("name", manifest.name)
        add("createdAt", manifest.createdAt)
        add("producer.software", manifest.producer.software)
        add("producer.sqlite", manifest.producer.sqlite)
        add("store.size", manifest.store.size)
        add("store.sha256", manifest.store.sha256)
        add("store.pageSize", manifest.store.pageSize)
        add("store.pageCount", manifest.store.pageCount)
        add("store.textEncoding", manifest.store.textEncoding.rawValue)
        add("store.applicationID", manifest.store.applicationID)
        add("store.userVersion", manifest.store.userVersion)
        add("store.schemaSHA256", manifest.store.schemaSHA256)
        add("identity", manifest.identity)
        if let hashes = manifest.coreData?.entityVersionHashes {
            add("coreData.entityVersionHashes.count", hashes.count)
            for (entity, hash) in hashes { add("coreData.entityVersionHashes.\(entity.unescaped)", hash) }
        }
        addAll("externalFiles", manifest.externalFiles) { lines, path, file in
            lines.add(path, file.name)
            lines.add("\(path).size", file.size)
            lines.add("\(path).sha256", file.sha256)
        }
        addAll("missingExternalFiles", manifest.missingExternalFiles) { $0.add($1, $2) }
        if !manifest.metadata.isEmpty { add("metadata.count", manifest.metadata.count) }
        for (key, value) in manifest.metadata { add("metadata.\(key)", value) }
        if let tables = manifest.tables {
            add("tables.count", tables.count)
            for (name, content) in tables {
                add("tables.\(name.unescaped).rows", content.rows)
                add("tables.\(name.unescaped).digest", content.digest)
            }
        }
        add("counter", manifest.counter)
        add("base.sha256", manifest.base?.sha256)
        if let content = manifest.base?.content { add("base.content", content.hex) }
        if let omissions = manifest.omissions { add(omissions) }
        addAll("requires", manifest.requires) { $0.add($1, $2) }
    }

    private mutating func add(_ omissions: Omissions) {
        if omissions.history { add("omissions.history", "true") }
        addAll("omissions.tables", omissions.tables) { $0.add($1, $2) }
        addAll("omissions.externalFiles", omissions.externalFiles) { lines, path, file in
            lines.add(path, file.name)
            lines.add("\(path).size", file.size)
        }
    }

    private mutating func add(_ path: String, _ name: ExternalFileName) {
        add("\(path).folder", name.folder.rawValue)
        add("\(path).name", name.uuid)
    }

    private mutating func add(_ hello: Hello) {
        add("software", hello.software)
        addAll("encodings", hello.encodings ?? []) { $0.add($1, $2) }
        addAll("holds", hello.holds ?? []) { lines, path, held in
            lines.add("\(path).name", held.name)
            if let manifest = held.manifest { lines.add("\(path).manifest", manifest.hex) }
            lines.addAll("\(path).kept", held.kept ?? []) { $0.add($1, $2.hex) }
            if let unfinished = held.unfinished { lines.add("\(path).unfinished", unfinished.hex) }
        }
        if let stays = hello.stays { add("stays", stays) }
        if let signatures = hello.signatures { add("signatures", signatures) }
    }

    private mutating func add(_ answer: Answer) {
        guard let wants = answer.wants else { return }
        if wants.isEmpty { add("wants.count", 0) }
        addAll("wants", wants) { lines, path, want in
            lines.add("\(path).part", want.part)
            lines.addAll("\(path).encodings", want.encodings ?? []) { $0.add($1, $2) }
            lines.add("\(path).base", want.base)
            guard let from = want.from else { return }
            lines.add("\(path).from.encoding", from.encoding)
            lines.add("\(path).from.position", from.position)
            lines.add("\(path).from.sha256", from.sha256)
        }
    }

    private mutating func add(_ opening: PartOpening) {
        add("encoding", opening.encoding)
        add("anew", opening.isAnew)
        add("part", opening.part)
        add("position", opening.position)
    }

    private mutating func add(_ receipt: Receipt) {
        add("name", receipt.name)
        add("generation", receipt.generation)
        add("sha256", receipt.sha256)
        add("outcome", receipt.outcome.rawValue)
    }

    private mutating func addAll<Element>(
        _ path: String, _ elements: [Element], _ each: (inout Self, String, Element) -> Void
    ) {
        if !elements.isEmpty { add("\(path).count", elements.count) }
        for (index, element) in elements.enumerated() { each(&self, "\(path).\(index)", element) }
    }
}
