/// The payload of ANSWER: the parts that the consumer wants of an offered shipment, or wants again because they do not match the manifest.
///
/// Source: `Protocol/README.md` section 5.2. Vectors: `answer_*`.
package struct Answer: Hashable, Sendable {
    /// By rising index; `nil` for all parts.
    package let wants: [PartRequest]?

    package struct PartRequest: Hashable, Sendable, Codable {
        package let part: Int
        /// The preferred one first; `nil` for all that both sides know.
        package let encodings: [ForeignText]?
        /// Of a store that the consumer holds with its external files, and keeps until the shipment is over.
        package let base: ContentDigest?
        /// The beginning of the part that came before.
        package let from: Start?
    }

    package init(_ wants: [PartRequest]?) { self.wants = wants }

    package static let everything = Answer(nil)

    /// - Parameters:
    ///   - parts: Only these, in any encoding.
    ///   - base: What the store may refer to.
    ///   - filesBase: The store with whose external files those may refer to.
    ///   - begun: The part that has partly come before. The answer names its encodings, for producers that know fewer.
    package init(
        parts: some Collection<Int>, over base: ContentDigest? = nil, files filesBase: ContentDigest? = nil,
        goingOnWith begun: WantedPart? = nil
    ) {
        let isShort = parts.count <= Limits.partsOverBase
        wants = parts.sorted().map { part in
            let begun = begun.flatMap { $0.index == part ? $0 : nil }
            return PartRequest(
                part: part, encodings: begun?.encodings.map(\.name),
                base: part == 0 ? base : isShort || begun != nil ? filesBase : nil,
                from: begun?.start.map(Start.init))
        }
    }

    /// The parts of a one-way shipment, without those that do not come, because the base has them.
    package init(to manifest: Manifest, without repeated: Set<Int>) {
        let coming = manifest.parts.enumerated().filter { $1.size > 0 && !repeated.contains($0) }.map(\.offset)
        self = repeated.isEmpty ? .everything : Answer(parts: coming, over: manifest.base?.sha256)
    }

    /// - Parameter parts: Only these, in their encodings.
    package init(again parts: [WantedPart]) {
        wants = parts.map { PartRequest(part: $0.index, encodings: $0.encodings.map(\.name), base: nil, from: nil) }
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
        guard wants.allSatisfy({ ($0.encodings ?? []).allSatisfy(\.isLabel) }) else { return "not a label" }
        let starts = wants.compactMap(\.from)
        guard starts.allSatisfy({ $0.encoding.isLabel }) else { return "not a label" }
        guard starts.allSatisfy({ (1...Limits.streamPosition).contains($0.position) }) else {
            return "a position out of 1...\(Limits.streamPosition)"
        }
        guard wants.allSatisfy(\.wantsEncodingOfStart) else { return "it goes on in what it does not want" }
        return nil
    }
}

/// A part that the consumer wants, and how it may come.
package struct WantedPart: Hashable, Sendable {
    package let index: Int
    /// The preferred one first; at least one.
    package let encodings: [PartEncoding]
    /// The base that encodings refer to.
    package let base: ContentDigest?
    /// The beginning of the part that came before, and need not come again.
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
    /// The one that the consumer prefers first.
    package let all: [PartEncoding]

    /// - Parameter encodings: What the consumer supports beside the mandatory ones.
    package init(_ encodings: [PartEncoding]) {
        all = encodings + PartEncoding.allCases.filter { $0.isMandatory && !encodings.contains($0) }
    }

    /// The encodings that the consumer lists and this version knows.
    package init(_ hello: Hello) {
        self.init((hello.encodings ?? []).compactMap(PartEncoding.init(named:)))
    }

    /// All that this version knows, for one-way shipments. The one that is likely to take the fewest bytes is first.
    package static let ofVersion = CommonEncodings([.delta, .columns])

    /// - Parameter base: What a delta may refer to.
    package func suiting(part index: Int, over base: ContentDigest? = nil) -> [PartEncoding] {
        all.filter { $0.suits(part: index) && (base != nil || !$0.needsBase) }
    }

    /// The parts that an answer to a manifest, or to END, asks for.
    ///
    /// - Parameter isAgain: Whether it answers END: then no part goes on from an earlier session.
    /// - Throws: `.badMessage` for a part that does not exist or is empty; `.noCommonEncoding`.
    package func wanted(
        by answer: Answer, of manifest: Manifest, again isAgain: Bool = false
    ) throws(ProtocolError) -> [WantedPart] {
        let sizes = manifest.parts.map(\.size)
        guard let wants = answer.wants else {
            // In one-way mode the manifest says what a delta refers to.
            return sizes.indices.filter { sizes[$0] > 0 }.map { index in
                let base = index == 0 ? manifest.base?.sha256 : nil
                return WantedPart(index, suiting(part: index, over: base), over: base)
            }
        }
        var wanted: [WantedPart] = []
        for want in wants {
            guard sizes.indices.contains(want.part), sizes[want.part] > 0 else {
                throw FrameType.answer.bad("it wants a part that there is not")
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
    /// Whether it can answer END: it wants parts, names their encodings, and none of these needs a base.
    var asksAgain: Bool {
        guard let wants, !wants.isEmpty else { return false }
        return wants.allSatisfy { want in
            guard let encodings = want.encodings else { return false }
            return !encodings.contains { PartEncoding(named: $0)?.needsBase ?? false }
        }
    }
}

/// The beginning of a part's stream that came in an earlier session, which broke off. The stream is the data of all its DATA in one
/// encoding, in order, each after its size in 4 bytes.
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
    /// A `StreamStart` as the message has it: this version may not know the encoding.
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

extension Answer.PartRequest {
    /// Whether it wants the part in the encoding of `from`: it names that encoding, or names none; and it names a base if the
    /// encoding needs one.
    var wantsEncodingOfStart: Bool {
        guard let from else { return true }
        if let encodings, !encodings.contains(from.encoding) { return false }
        return base != nil || PartEncoding(named: from.encoding)?.needsBase != true
    }

    /// The beginning of the part that came before.
    ///
    /// - Parameter possible: The encodings in which the part may come.
    /// - Returns: `nil` if nothing has come, or in an encoding that is not possible although the answer names it.
    /// - Throws: `.badMessage` for an encoding that is not possible if the answer names none.
    func start(in possible: [PartEncoding]) throws(ProtocolError) -> StreamStart? {
        guard let from else { return nil }
        guard let encoding = PartEncoding(named: from.encoding), possible.contains(encoding) else {
            if encodings != nil { return nil }
            throw FrameType.answer.bad("it goes on in what it does not want")
        }
        return StreamStart(encoding, position: from.position, sha256: from.sha256)
    }
}
