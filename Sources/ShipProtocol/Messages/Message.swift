import EssentialFoundation
import Synchronization

/// A JSON object in the payload of a frame.
///
/// Source: `Protocol/README.md` sections 4 and 5.
protocol Message: Codable {
    /// The first rule beyond the types that the values break, in words for a log; `nil` if they keep all rules.
    var firstFlaw: String? { get }
    /// Its members, where it may be so long that those that are not known have to be passed over; `nil` for a short message.
    static var memberNames: Set<String>? { get }
}

extension Message {
    static var memberNames: Set<String>? { nil }
}

/// One large message is decoded at a time: JSON of 4 MiB, which comes in a few thousand bytes, takes some twenty times as much memory while
/// it is. Small ones do not wait.
private let largeMessage = Mutex(())
private let largeSize = 64 * 1024

extension Manifest: Message {}

extension Message {
    /// - Throws: `.badMessage`.
    static func decode(_ payload: ArraySlice<UInt8>, as type: FrameType) throws(ProtocolError) -> Self {
        let message: Self
        do {
            let decode = {
                let known = try JSONSyntax.checked(payload, as: type, keeping: memberNames)
                return try JSONDecoder().decode(Self.self, from: Data(known))
            }
            message = try payload.count > largeSize ? largeMessage.withLock { _ in try decode() } : decode()
        } catch let error as ProtocolError {
            throw error
        } catch let error as DecodingError {
            throw type.bad(error.flaw)
        } catch {
            throw type.bad("not as it should be")
        }
        if let flaw = message.firstFlaw { throw type.bad(ForeignText(flaw)) }
        return message
    }

    /// - Parameter offer: What it answers, if anything.
    /// - Throws: As `decode(_:as:)` and `FrameType.unpacked`.
    static func decode(
        packed payload: ArraySlice<UInt8>, as type: FrameType, answering offer: [ManifestContent] = []
    ) throws(ProtocolError) -> Self {
        try decode(try type.unpacked(payload, answering: offer)[...], as: type)
    }
}

extension Manifest {
    /// Decodes a manifest from uncompressed JSON, of a frame or of a kept `manifest.json`.
    ///
    /// - Throws: `.badMessage`; `.featureNotSupported` if that may be why it breaks a rule of today.
    package init(decoding json: [UInt8]) throws(ProtocolError) { self = try Self.decode(json[...], as: .manifest) }
}

extension Encodable {
    /// Its JSON, of strings, integers, booleans, arrays and objects alone. Equal values give equal bytes: members are sorted.
    package var jsonBytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else {
            // JSON has no NaN and no infinity, and no message has a fraction: nothing from outside can get here.
            preconditionFailure("messages hold nothing but strings, integers, booleans, arrays and objects")
        }
        return Array(data)
    }
}

extension DecodingError {
    /// Where it is, and what is wrong; the words may quote a value.
    fileprivate var flaw: ForeignText {
        switch self {
        case .keyNotFound(let key, let context): "\(context.place)\(key.stringValue) is missing"
        case .typeMismatch(_, let context): "\(context.place)has the wrong type"
        case .valueNotFound(_, let context): "\(context.place)is null"
        case .dataCorrupted(let context):
            // The syntax has been checked before. An error is left for numbers that no type here holds.
            context.underlyingError != nil
                ? "\(context.place)a number out of range" : "\(context.place)\(context.debugDescription)"
        @unknown default: "not as it should be"
        }
    }
}

extension DecodingError.Context {
    /// `store.pageSize: `. It ends where keys are the other side's text.
    fileprivate var place: String {
        let known = codingPath.prefix { !["metadata", "entityVersionHashes", "tables"].contains($0.stringValue) }
        let names = known.map { key in key.intValue.map(String.init) ?? key.stringValue }
        return names.isEmpty ? "" : names.joined(separator: ".") + ": "
    }
}
