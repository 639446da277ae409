import ShipCompression
import ShipProtocol

extension ProtocolError {
    var explanation: Explanation {
        switch self {
        case .truncated:
            Explanation("the stream ended early: the shipment is not whole", hint: "send it again")
        case .noEnd:
            Explanation(
                "the stream ended early, between two shipments: more may have been to come",
                hint: "send it again; what came before stays")
        case .wrongMagic:
            Explanation(
                "this is no ship-store stream", hint: "give what `ship-store send` wrote, unchanged and uncompressed")
        case .badPreamble: Explanation("the stream begins with a field that is out of range", hint: "send it again")
        case .damaged(let damage): Explanation("bytes were damaged on the way: \(damage.words)", hint: "send it again")
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
        case .badPart(let flaw): Explanation("a part is out of order or out of range: \(flaw.words)")
        case .badBlock(let flaw): Explanation("a block is out of range: \(flaw.words)")
        case .badSignatureFrame: Explanation("a signature has no certificate")
        case .encodingNotSupported(let encoding):
            Explanation(
                "a part comes in encoding \(encoding), which is not taken here",
                hint: "update the older of the two programs")
        case .noCommonEncoding(let part):
            Explanation(
                "part \(part) is wanted in an encoding that this version does not know",
                hint: "update the older of the two programs")
        case .featureNotSupported(let name):
            Explanation(
                "the shipment requires the feature \(name), "
                    + "which this version does not know", hint: "update this program")
        case .badMessage(let type, let flaw):
            Explanation("a message of type \(type) breaks the protocol's rules: \(flaw)")
        case .incomplete: Explanation("the sender says that it is done, but parts are missing", hint: "send it again")
        }
    }

    /// Of what is read from a file, which nobody sends again.
    var explanationOfFile: Explanation {
        let hint: PrintableText = "have it made anew with `ship-store send --to FILE`"
        switch self {
        case .truncated: return Explanation("the file ends early: the shipment is not whole", hint: hint)
        case .wrongMagic:
            return Explanation(
                "the file is no shipment", hint: "give what `ship-store send` wrote, unchanged and uncompressed")
        case .noEnd:
            return Explanation("the file ends early, between two shipments: more may have been in it", hint: hint)
        case .damaged(let damage): return Explanation("the file is damaged: \(damage.words)", hint: hint)
        case .incomplete: return Explanation("parts of the shipment are missing in the file", hint: hint)
        default:
            return Explanation(
                "the file is no sound shipment: \(explanation.cause)", hint: explanation.hint.map { "\($0)" } ?? hint)
        }
    }

    private static func text(_ versions: ClosedRange<UInt8>) -> String {
        versions.count == 1
            ? "version \(versions.lowerBound)" : "versions \(versions.lowerBound) to \(versions.upperBound)"
    }
}

extension ProtocolError.Damage {
    fileprivate var words: PrintableText {
        switch self {
        case .preamble, .frame: "a checksum is wrong"
        case .message(FrameType.manifest.rawValue): "the manifest does not inflate"
        case .message: "a message does not inflate"
        case .installedStore: "what was installed is not what was sent"
        }
    }
}

extension ProtocolError.PartFlaw {
    fileprivate var words: PrintableText {
        switch self {
        case .length: "its length"
        case .flags: "its flags"
        case .place: "it is not in its place"
        case .encoding: "its encoding is not wanted, or has been tried"
        case .anew: "it begins anew, or does not"
        case .position: "its position"
        case .rest: "what follows is not the rest of what was cut"
        case .tooLong: "it is longer than it may be"
        }
    }
}

extension ProtocolError.BlockFlaw {
    fileprivate var words: PrintableText {
        switch self {
        case .truncated: "it has no content"
        case .tooLong: "its length"
        case .form: "its form"
        case .decodedSize: "its decoded size"
        case .beyondEnd: "it goes beyond the end of its part"
        case .end: "it is not the last one, or is"
        case .windowAtStart: "a window where nothing comes before"
        }
    }
}

extension CompressionError.Flaw {
    fileprivate var words: PrintableText {
        switch self {
        case .notZlib: "a block does not inflate"
        case .decodedSize: "something inflates to another size than it says"
        case .trailingBytes: "bytes follow where something that was deflated ends"
        case .dictionary: "a block was deflated after other bytes than those that came before it"
        case .rows: "the rows that came do not make a store"
        case .base: "a delta was made against another base than the one that is here"
        case .segment, .segmentLimit: "the rows of the store came in a form that there is not"
        }
    }
}

extension CompressionError {
    var explanation: Explanation {
        switch self {
        case .damaged(let flaw): Explanation("bytes were damaged on the way: \(flaw.words)", hint: "send it again")
        case .sourceChanged: Explanation("a file changed while it was being sent", hint: "send it again")
        case .outOfMemory:
            Explanation("there is not even 1 MiB of memory left", hint: "free some memory, then try again")
        case .notCanonical, .segmentFull:
            Explanation("the rows of the store cannot be encoded column by column", hint: "send it without the codec")
        }
    }
}
