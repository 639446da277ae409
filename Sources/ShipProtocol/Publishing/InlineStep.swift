/// A step whose shipment stands beside it, in a head or in a bundle. There the SIGNATURE of the shipment needs no certificate: it is the
/// publisher's, which the head has.
///
/// Source: `Protocol/PUBLISHED.md` sections 2 and 3.
package struct InlineStep: Hashable, Sendable {
    package let step: PublishedStep
    /// As it stands there.
    package let shipment: [UInt8]

    package init(_ step: PublishedStep, shipment: [UInt8] = []) { (self.step, self.shipment) = (step, shipment) }
}

extension InlineStep: Codable {
    package init(from decoder: any Decoder) throws { self.init(try PublishedStep(from: decoder)) }

    package func encode(to encoder: any Encoder) throws { try step.encode(to: encoder) }
}

extension [InlineStep] {
    /// A bundle: their shipments, one after the other, deflated.
    package var bundle: [UInt8] { PublicationText.packed(flatMap(\.shipment)) }

    /// Takes their shipments, one after the other.
    ///
    /// - Returns: `false` if there are fewer bytes than the steps say.
    mutating func takeShipments(from bytes: inout ArraySlice<UInt8>) -> Bool {
        for index in indices {
            let step = self[index].step
            guard step.size <= Int64(bytes.count) else { return false }
            self[index] = InlineStep(step, shipment: [UInt8](bytes.prefix(Int(step.size))))
            bytes = bytes.dropFirst(Int(step.size))
        }
        return true
    }
}

extension InlineStep {
    /// - Parameters:
    ///   - from, to, counter: As in the step.
    ///   - shipment: As a file has it, with a SIGNATURE.
    ///   - sign: Signs the payload of a MANIFEST, as the publisher.
    package init(
        from: ManifestContent.ID?, to: ManifestContent.ID, counter: UInt64, shipment: [UInt8],
        signedBy sign: ([UInt8]) throws -> Signature
    ) throws {
        let shipment = try Self.laidOut(shipment, sign)
        self.init(
            PublishedStep(from: from, to: to, counter: counter, size: Int64(shipment.count), sha256: nil),
            shipment: shipment)
    }

    /// A shipment as it stands beside others: its manifest is not packed, so that it is deflated together with theirs, which are much the
    /// same, and its SIGNATURE leaves out the certificate.
    private static func laidOut(_ shipment: [UInt8], _ sign: ([UInt8]) throws -> Signature) throws -> [UInt8] {
        var frames = shipment.dropFirst(Preamble.size)
        func take(_ type: FrameType) throws(ProtocolError) -> ArraySlice<UInt8> {
            let header = try FrameHeader(decoding: frames)
            let end = FrameHeader.size + header.payloadLength
            guard header.type == type, frames.count >= end + 4 else {
                throw .badMessage(type: type.rawValue, flaw: "it is not there")
            }
            defer { frames = frames.dropFirst(end + 4) }
            return frames.dropFirst(FrameHeader.size).prefix(header.payloadLength)
        }
        _ = try take(.signature)
        let (payload, manifest) = try Frame.plainManifest(FrameType.manifest.unpacked(take(.manifest)))
        let signature = try sign(payload)
        return try shipment.prefix(Preamble.size)
            + Frame.signature(signature).serialized(after: signature.certificate) + manifest + frames
    }

    /// The same with the certificate in its SIGNATURE, right after the preamble, as a file has it. What has none stays as it is.
    ///
    /// - Parameter certificate: The publisher's.
    package func signed(with certificate: [UInt8]) -> InlineStep {
        let frame = shipment.dropFirst(Preamble.size)
        guard let header = try? FrameHeader(decoding: frame), header.type == .signature,
            frame.count >= FrameHeader.size + header.payloadLength + 4,
            let signature = try? Signature(
                decoding: frame.dropFirst(FrameHeader.size).prefix(header.payloadLength), after: certificate),
            let signed = try? Frame.signature(signature).serialized()
        else { return self }
        let signedShipment: [UInt8] =
            shipment.prefix(Preamble.size) + signed + frame.dropFirst(FrameHeader.size + header.payloadLength + 4)
        return InlineStep(step.sized(Int64(signedShipment.count)), shipment: signedShipment)
    }
}
