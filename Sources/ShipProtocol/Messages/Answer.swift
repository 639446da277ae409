/// The payload of ANSWER: what the consumer wants of a shipment that it was offered, or that has come and did not come to what
/// the manifest says.
///
/// Source: `Protocol/README.md` section 5.2. Vectors: `answer_*`.
package struct Answer: Hashable, Sendable {
    /// By rising index; `nil` for all parts.
    package let wants: [Want]?

    package struct Want: Hashable, Sendable, Codable {
        package let part: Int
        /// In the order in which the consumer likes them; `nil` for all that both sides know.
        package let encodings: [ForeignText]?
        /// Of a store that the consumer holds with its external files, and keeps for as long as the shipment takes.
        package let base: ContentDigest?
        /// What has come of it before.
        package let from: Start?
    }

    package init(_ wants: [Want]?) { self.wants = wants }

    /// All parts that there are.
    package static let everything = Answer(nil)

    /// - Parameters:
    ///   - parts: Those alone, in any encoding.
    ///   - base: What the store may refer to.
    ///   - filesBase: The store with whose external files those may refer to.
    ///   - begun: The one of which something has come before. Its encodings are named, for producers that know fewer of them.
    package init(
        parts: some Collection<Int>, over base: ContentDigest? = nil, files filesBase: ContentDigest? = nil,
        goingOnWith begun: WantedPart? = nil
    ) {
        let isShort = parts.count <= Limits.partsOverBase
        wants = parts.sorted().map { part in
            let begun = begun.flatMap { $0.index == part ? $0 : nil }
            return Want(
                part: part, encodings: begun?.encodings.map(\.name),
                base: part == 0 ? base : isShort || begun != nil ? filesBase : nil,
                from: begun?.start.map(Start.init))
        }
    }

    /// - Parameter parts: Those alone, in these encodings.
    package init(again parts: [WantedPart]) {
        wants = parts.map { Want(part: $0.index, encodings: $0.encodings.map(\.name), base: nil, from: nil) }
    }
}

extension Answer: Message {
    var firstFlaw: String? {
        guard let wants else { return nil }
        guard wants.count <= Limits.externalFiles + 1,
            wants.allSatisfy({ (0...Limits.externalFiles).contains($0.part) }),
            zip(wants, wants.dropFirst()).allSatisfy({ $0.part < $1.part })
        else { return "wants is not a rising list of parts" }
        guard wants.allSatisfy({ (1...Limits.features).contains($0.encodings?.count ?? 1) }) else {
            return "a number of encodings out of 1...\(Limits.features)"
        }
        guard wants.allSatisfy({ ($0.encodings ?? []).allSatisfy(Label.isValid) }) else { return "not a label" }
        let starts = wants.compactMap(\.from)
        guard starts.allSatisfy({ Label.isValid($0.encoding) }) else { return "not a label" }
        guard starts.allSatisfy({ (1...Limits.streamPosition).contains($0.position) }) else {
            return "a position out of 1...\(Limits.streamPosition)"
        }
        guard wants.allSatisfy(\.wantsWhatItGoesOnIn) else { return "it goes on in what it does not want" }
        return nil
    }
}

/// A part that comes, and how it may.
package struct WantedPart: Hashable, Sendable {
    package let index: Int
    /// In the order in which the consumer likes them; at least one.
    package let encodings: [PartEncoding]
    /// What those refer to that refer to anything.
    package let base: ContentDigest?
    /// What has come of it before, and need not come again.
    package let start: StreamStart?

    package init(
        _ index: Int, _ encodings: [PartEncoding], over base: ContentDigest? = nil, after start: StreamStart? = nil
    ) {
        self.index = index
        self.encodings = encodings
        self.base = base
        self.start = start
    }
}

/// The encodings that both sides of a session know, as HELLO settles them.
///
/// Source: `Protocol/README.md` sections 3.4 and 5.1.
package struct CommonEncodings: Hashable, Sendable {
    /// In the order in which the consumer likes them.
    package let all: [PartEncoding]

    /// - Parameter encodings: What the consumer takes beside those that every one takes.
    package init(_ encodings: [PartEncoding]) {
        all = encodings + PartEncoding.allCases.filter { $0.isMandatory && !encodings.contains($0) }
    }

    /// What the consumer lists, as far as this version knows it.
    package init(_ hello: Hello) {
        self.init((hello.encodings ?? []).compactMap(PartEncoding.init(named:)))
    }

    /// All that this version knows, for a shipment that nobody answers: what is likely to take the fewest bytes first.
    package static let ofVersion = CommonEncodings([.delta, .columns])

    /// - Parameter base: What there is to refer to.
    package func suiting(part index: Int, over base: ContentDigest? = nil) -> [PartEncoding] {
        all.filter { $0.suits(part: index) && (base != nil || !$0.needsBase) }
    }

    /// What an answer to a manifest, or to END, comes to.
    ///
    /// - Parameter isAgain: Whether it is one to END: what has come before says nothing then.
    /// - Throws: `.badMessage` for a part that there is not, or of which nothing can come; `.noCommonEncoding`.
    package func wanted(
        by answer: Answer, of manifest: Manifest, again isAgain: Bool = false
    ) throws(ProtocolError) -> [WantedPart] {
        let sizes = manifest.parts.map(\.size)
        guard let wants = answer.wants else {
            // Where nobody answers, the manifest says what a delta refers to.
            return sizes.indices.filter { sizes[$0] > 0 }.map { index in
                let base = index == 0 ? manifest.base?.sha256 : nil
                return WantedPart(index, suiting(part: index, over: base), over: base)
            }
        }
        var wanted: [WantedPart] = []
        for want in wants {
            guard sizes.indices.contains(want.part), sizes[want.part] > 0 else {
                throw .badMessage(type: FrameType.answer.rawValue, flaw: "it wants a part that there is not")
            }
            let possible = suiting(part: want.part, over: want.base)
            let encodings =
                want.encodings.map { $0.compactMap(PartEncoding.init(named:)).filter(possible.contains) } ?? possible
            guard !encodings.isEmpty else { throw .noCommonEncoding(part: want.part) }
            let start = isAgain ? nil : try want.start(in: encodings)
            wanted.append(WantedPart(want.part, encodings, over: want.base, after: start))
        }
        return wanted
    }
}

extension Answer {
    /// Whether it can be the answer to END: it wants something, says how, and nothing that refers to what the consumer holds.
    var asksAgain: Bool {
        guard let wants, !wants.isEmpty else { return false }
        return wants.allSatisfy { want in
            guard let encodings = want.encodings else { return false }
            return !encodings.contains { PartEncoding(named: $0)?.needsBase ?? false }
        }
    }
}

/// What has come of a part in an earlier session that broke off: the beginning of its stream, which is the data of its DATA in one
/// encoding, one after the other, each preceded by its size as 4 bytes.
///
/// Source: `Protocol/README.md` sections 3.3 and 5.2.
package struct StreamStart: Hashable, Sendable {
    package let encoding: PartEncoding
    /// Bytes of the stream: at least 1.
    package let position: Int64
    /// Of these bytes.
    package let sha256: ContentDigest

    package init(_ encoding: PartEncoding, position: Int64, sha256: ContentDigest) {
        self.encoding = encoding
        self.position = position
        self.sha256 = sha256
    }
}

extension Answer {
    /// The same, as a message says it.
    package struct Start: Hashable, Sendable, Codable {
        package let encoding: ForeignText
        package let position: Int64
        package let sha256: ContentDigest

        init(_ start: StreamStart) {
            encoding = start.encoding.name
            position = start.position
            sha256 = start.sha256
        }
    }
}

extension Answer.Want {
    /// Whether it names the encoding in which it goes on, if it names any, and the base if that needs one.
    var wantsWhatItGoesOnIn: Bool {
        guard let from else { return true }
        if let encodings, !encodings.contains(from.encoding) { return false }
        return base != nil || PartEncoding(named: from.encoding)?.needsBase != true
    }

    /// What has come of the part before.
    ///
    /// - Parameter possible: In what it may come.
    /// - Returns: `nil` where nothing has, or in an encoding that is passed over.
    /// - Throws: `.badMessage` for one that is none of those, where it names none itself.
    func start(in possible: [PartEncoding]) throws(ProtocolError) -> StreamStart? {
        guard let from else { return nil }
        guard let encoding = PartEncoding(named: from.encoding), possible.contains(encoding) else {
            if encodings != nil { return nil }
            throw .badMessage(type: FrameType.answer.rawValue, flaw: "it goes on in what it does not want")
        }
        return StreamStart(encoding, position: from.position, sha256: from.sha256)
    }
}
