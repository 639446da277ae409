import ShipCompression
import ShipProtocol

extension ProtocolError {
    var explanation: Explanation {
        switch self {
        case .truncated:
            Explanation("the stream ended early: the shipment is not whole", hint: "send it again")
        case .wrongMagic:
            Explanation(
                "this is no ship-store stream", hint: "give what `ship-store send` wrote, unchanged and uncompressed")
        case .badPreamble: Explanation("the stream begins with a field that is out of range", hint: "send it again")
        case .damaged: Explanation("bytes were damaged on the way: a checksum is wrong", hint: "send it again")
        case .versionNotSupported(let versions):
            Explanation(
                "the other side speaks protocol \(Self.text(versions)), this one \(Self.text(Preamble.spokenVersions))",
                hint: "update the older of the two programs")
        case .wrongRole:
            Explanation(
                "both sides want to do the same", hint: "one side must be `ship-store send`, the other `receive`")
        case .unknownFrame(let type):
            Explanation(
                "the other side sent a frame of type \(type), which this version does not know",
                hint: "update this program")
        case .payloadTooLong(let type, let length, let limit):
            Explanation("a frame of type \(type) declares \(length) bytes; at most \(limit) are allowed")
        case .outOfOrder(let type): Explanation("a frame of type \(type) came out of order")
        case .badBlock(let flaw): Explanation("a block is out of order or out of range: \(flaw)")
        case .badColumns(let flaw): Explanation("rows of the store are out of order or out of range: \(flaw)")
        case .badSignatureFrame: Explanation("a signature has no certificate")
        case .encodingNotSupported(let encoding):
            Explanation(
                "a block has encoding \(encoding), which this version does not know", hint: "update this program")
        case .featureNotSupported(let name):
            Explanation(
                "the shipment requires the feature \(name.filter { $0.isASCII && !$0.isNewline }), "
                    + "which this version does not know", hint: "update this program")
        case .badMessage(let type, let flaw):
            Explanation("a message of type \(type) breaks the protocol's rules: \(flaw)")
        case .incomplete: Explanation("the sender says that it is done, but parts are missing", hint: "send it again")
        }
    }

    /// Of what is read from a file, which nobody sends again.
    var explanationOfFile: Explanation {
        let hint = "have it made anew with `ship-store send --to FILE`"
        switch self {
        case .truncated: return Explanation("the file ends early: the shipment is not whole", hint: hint)
        case .wrongMagic:
            return Explanation(
                "the file is no shipment", hint: "give what `ship-store send` wrote, unchanged and uncompressed")
        case .damaged: return Explanation("the file is damaged: a checksum is wrong", hint: hint)
        case .incomplete: return Explanation("parts of the shipment are missing in the file", hint: hint)
        default:
            return Explanation("the file is no sound shipment: \(explanation.cause)", hint: explanation.hint ?? hint)
        }
    }

    private static func text(_ versions: ClosedRange<UInt8>) -> String {
        versions.count == 1
            ? "version \(versions.lowerBound)" : "versions \(versions.lowerBound) to \(versions.upperBound)"
    }
}

extension CompressionError {
    var explanation: Explanation {
        switch self {
        case .damaged: Explanation("bytes were damaged on the way: a block does not inflate", hint: "send it again")
        case .sourceChanged: Explanation("a file changed while it was being sent", hint: "send it again")
        case .outOfMemory:
            Explanation("there is not even 1 MiB of memory left", hint: "free some memory, then try again")
        case .notCanonical, .segmentFull:
            Explanation("the rows of the store cannot be encoded column by column", hint: "send it without the codec")
        }
    }
}
