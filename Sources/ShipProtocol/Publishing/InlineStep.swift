import EssentialFoundation

/// A step whose shipment stands beside others, in a head or in a bundle, without what its reader knows: its frames from MANIFEST on, each without
/// its checksum.
///
/// The preamble is that of each one-way shipment, and the certificate that of the head. MANIFEST begins with 0 and has all of its JSON, or with 4
/// and has only the members that differ from the content where the step begins. The last one of a store, and those of a bundle that lead where its
/// last one does, have a SIGNATURE, which whoever passes it on needs; the others are on the way there, and proven by the signature of the head.
///
/// Source: `Protocol/PUBLISHED.md` sections 2 and 3. Vectors: `short_*`.
package struct InlineStep: Hashable, Sendable {
    package let step: PublishedStep
    /// As it stands there.
    package let shipment: [UInt8]

    private static let differenceForm: UInt8 = 4

    package init(_ step: PublishedStep, shipment: [UInt8] = []) { (self.step, self.shipment) = (step, shipment) }
}

extension InlineStep: Codable {
    package init(from decoder: any Decoder) throws { self.init(try PublishedStep(from: decoder)) }

    package func encode(to encoder: any Encoder) throws { try step.encode(to: encoder) }
}

extension [InlineStep] {
    /// A bundle: the id of the publisher, and their shipments, packed.
    package func bundle(by publisher: ContentDigest) -> [UInt8] {
        publisher.bytes + PublicationText.packed(flatMap(\.shipment))
    }

    /// About how many bytes they take in a head.
    package var packedSize: Int { isEmpty ? 0 : PublicationText.packed(flatMap(\.shipment)).count }

    /// The same, of which those alone have a signature of their own that lead to where the last one does.
    package var signedAtEnd: [InlineStep] {
        map { $0.step.to == last?.step.to ? $0 : InlineStep($0.step.signed(nil), shipment: $0.shipment) }
    }

    /// Takes their shipments, one after the other.
    ///
    /// - Returns: `false` if there are fewer bytes than the steps say.
    mutating func takeShipments(from frames: inout ArraySlice<UInt8>) -> Bool {
        for index in indices {
            let step = self[index].step
            guard step.size <= Int64(frames.count) else { return false }
            self[index] = InlineStep(step, shipment: [UInt8](frames.prefix(Int(step.size))))
            frames = frames.dropFirst(Int(step.size))
        }
        return true
    }
}

// MARK: A shipment in a file

extension InlineStep {
    /// - Parameters:
    ///   - from, to, counter: As in the step.
    ///   - file: The shipment as a file has it.
    ///   - base: The content where it begins; `nil` for a whole.
    ///   - sign: Signs the payload of a MANIFEST, as the publisher.
    package init(
        from: ManifestContent.ID?, to: ManifestContent.ID, counter: UInt64, file: [UInt8], over base: ManifestContent?,
        signedBy sign: ([UInt8]) throws -> Signature
    ) throws {
        var (frames, shipment) = (file.dropFirst(Preamble.size), [UInt8]())
        while !frames.isEmpty {
            let header = try FrameHeader(decoding: frames)
            let frame = frames.prefix(FrameHeader.size + header.payloadLength)
            frames = frames.dropFirst(frame.count + 4)
            if header.type == .manifest {
                let manifest = try JSONValue(decoding: FrameType.manifest.unpacked(frame.dropFirst(FrameHeader.size)))
                shipment += try Frame.serialized(Self.payload(of: manifest, over: base), as: .manifest).dropLast(4)
            } else if header.type != .signature {
                shipment += frame
            }
        }
        let step = PublishedStep(from: from, to: to, counter: counter, size: Int64(shipment.count), sha256: nil)
        self = try InlineStep(step, shipment: shipment).signed(over: base, by: sign)
    }

    /// The same, with a signature of its own.
    package func signed(over base: ManifestContent?, by sign: ([UInt8]) throws -> Signature) throws -> InlineStep {
        let payload = shipment.dropFirst(FrameHeader.size).prefix(try FrameHeader(decoding: shipment).payloadLength)
        let manifest = try manifest(of: payload, over: base).dropFirst(FrameHeader.size).dropLast(4)
        return InlineStep(step.signed(try sign(Array(manifest)).value), shipment: shipment)
    }

    private static func payload(of manifest: JSONValue, over base: ManifestContent?) -> [UInt8] {
        if let known = base?.withBase {
            let differences = known.differences(to: manifest)
            if known.changed(by: differences) == manifest { return [differenceForm] + differences.canonicalBytes }
        }
        return FrameType.plain(manifest.canonicalBytes)
    }

    /// The shipment as a file has it, without a SIGNATURE if it has none.
    ///
    /// - Parameters:
    ///   - certificate: The publisher's.
    ///   - base: What is held; `nil` for nothing.
    /// - Throws: `.badMessage`, also where the step begins at another content.
    package func file(by certificate: [UInt8], over base: ManifestContent?) throws(ProtocolError) -> [UInt8] {
        var file = Preamble(role: .producer, mode: .oneWay).encoded
        if let value = step.signature.flatMap({ ContentDigest.bytes(Signature.size, ofHex: $0) }) {
            file += try Frame.signature(Signature(value: value, certificate: certificate)).serialized()
        }
        var frames = shipment[...]
        while !frames.isEmpty {
            guard let header = try? FrameHeader(decoding: frames),
                frames.count >= FrameHeader.size + header.payloadLength
            else { throw FrameType.manifest.bad("a shipment that is cut off") }
            var frame = Array(frames.prefix(FrameHeader.size + header.payloadLength))
            if header.type == .manifest {
                // A few bytes may become as many as the base's manifest has.
                guard frames.startIndex == 0 else { throw FrameType.manifest.bad("a manifest behind other frames") }
                frame = try manifest(of: frame.dropFirst(FrameHeader.size), over: base)
            } else {
                frame.append(bigEndian: UInt32(crc32Of: frame))
            }
            frames = frames.dropFirst(FrameHeader.size + header.payloadLength)
            file += frame
        }
        return file
    }

    private func manifest(of payload: ArraySlice<UInt8>, over base: ManifestContent?) throws(ProtocolError) -> [UInt8] {
        guard payload.first == Self.differenceForm else { return try Frame.serialized(Array(payload), as: .manifest) }
        guard let base, base.id == step.from else { throw FrameType.manifest.bad("a step from another content") }
        let json = try JSONSyntax.checked(payload.dropFirst(), as: .manifest, keeping: nil)
        guard case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(json)) else {
            throw FrameType.manifest.bad("no differences")
        }
        let manifest = base.withBase.changed(by: .object(members))
        return try Frame.serialized(FrameType.plain(manifest.canonicalBytes), as: .manifest)
    }
}

extension ManifestContent {
    /// What each manifest has that comes over it, and is like it.
    fileprivate var withBase: JSONValue {
        let content = JSONValue(decoding: json)
        guard case .object(var members) = content, case .object(let store)? = members["store"] else { return content }
        members["base"] = .object(store.filter { $0.key == "sha256" })
        return .object(members)
    }
}
