import EssentialFoundation

/// A JSON object in the payload of a frame.
///
/// Source: `Protocol/README.md` sections 4 and 5.
protocol Message: Codable {
    /// The rule beyond the types that the values break, in words for a log.
    var firstFlaw: String? { get }
}

extension Manifest: Message {}

/// How messages become payloads, and payloads messages.
package enum MessageCoding {
    /// - Throws: `.badMessage`.
    static func decode<M: Message>(_: M.Type, from payload: ArraySlice<UInt8>, as type: FrameType)
        throws(ProtocolError) -> M
    {
        do throws(JSONSyntax.Flaw) {
            try JSONSyntax.check(payload)
        } catch {
            throw .badMessage(type: type.rawValue, flaw: ForeignText(error.words))
        }
        let message: M
        do {
            message = try JSONDecoder().decode(M.self, from: Data(payload))
        } catch let error as DecodingError {
            throw .badMessage(type: type.rawValue, flaw: error.flaw)
        } catch {
            throw .badMessage(type: type.rawValue, flaw: "not as it should be")
        }
        if let flaw = message.firstFlaw { throw .badMessage(type: type.rawValue, flaw: ForeignText(flaw)) }
        return message
    }

    /// - Throws: As `decode(_:from:as:)` and `PackedMessage.unpacking`.
    /// - Parameter offer: What it answers, if anything.
    static func decode<M: Message>(
        _: M.Type, packed payload: ArraySlice<UInt8>, as type: FrameType, answering offer: OfferedManifest? = nil
    ) throws(ProtocolError) -> M {
        try decode(M.self, from: try PackedMessage.unpacking(payload, as: type, answering: offer)[...], as: type)
    }

    /// A manifest in plain JSON, from a frame or from the file in which it was kept.
    ///
    /// - Throws: `.badMessage`; `.featureNotSupported` if that may be why it breaks a rule of today.
    package static func decodeManifest(_ bytes: [UInt8]) throws(ProtocolError) -> Manifest {
        do throws(ProtocolError) {
            return try decode(Manifest.self, from: bytes[...], as: .manifest)
        } catch {
            if let feature = try? decode(RequiredFeatures.self, from: bytes[...], as: .manifest).requires?.first {
                throw .featureNotSupported(feature)
            }
            throw error
        }
    }

    /// Equal messages give equal bytes: members are sorted.
    package static func encode(_ message: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(message) else {
            // Nothing that comes from outside is among what JSON cannot say: no number of a message is a fraction.
            preconditionFailure("messages hold nothing but strings, integers, booleans, arrays and objects")
        }
        return Array(data)
    }
}

/// The one member that every version of this program understands, of whatever a later one makes of the others.
private struct RequiredFeatures: Message {
    let requires: [ForeignText]?

    var firstFlaw: String? { requires.flatMap(Manifest.firstFlaw(ofRequirements:)) }
}

extension JSONSyntax.Flaw {
    fileprivate var words: String {
        switch self {
        case .notPlainUTF8: "not plain UTF-8"
        case .notJSON: "not JSON"
        case .tooDeep: "nested deeper than \(JSONSyntax.depthLimit)"
        case .memberTwice: "a member stands twice"
        case .unpairedSurrogate: "half of a character"
        }
    }
}

extension DecodingError {
    /// Where, and what; the words may quote a value.
    fileprivate var flaw: ForeignText {
        switch self {
        case .keyNotFound(let key, let context): "\(context.place)\(key.stringValue) is missing"
        case .typeMismatch(_, let context): "\(context.place)has the wrong type"
        case .valueNotFound(_, let context): "\(context.place)is null"
        case .dataCorrupted(let context):
            // Its syntax has been judged before: what is left is a number that nothing here holds.
            context.underlyingError != nil
                ? "\(context.place)a number out of range" : "\(context.place)\(context.debugDescription)"
        @unknown default: "not as it should be"
        }
    }
}

extension DecodingError.Context {
    /// `store.pageSize: `. Keys of dictionaries are the other side's text: they are left out from there on.
    fileprivate var place: String {
        let known = codingPath.prefix { !["metadata", "entityVersionHashes", "tables"].contains($0.stringValue) }
        let names = known.map { key in key.intValue.map(String.init) ?? key.stringValue }
        return names.isEmpty ? "" : names.joined(separator: ".") + ": "
    }
}
