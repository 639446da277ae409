package import ShipProtocol
package import StoreFormat
package import SystemPackage

/// What makes a store's rows, or what changed of them, into segments, and segments into a store.
///
/// Source: `Protocol/COLUMNS.md`, `Protocol/DELTA.md`.
package struct ColumnsCodec: Sendable {
    package let makeEncoder: @Sendable (StoreToEncode) throws -> any ColumnsEncoder
    package let makeDecoder: @Sendable (StoreToMake) throws -> any ColumnsDecoder
    package let makeDeltaEncoder: @Sendable (StoreToEncode, BaseToReferTo) throws -> any ColumnsEncoder
    /// - Parameter base: The file that the delta was made against.
    package let makeDeltaDecoder: @Sendable (StoreToMake, _ base: FilePath) throws -> any ColumnsDecoder

    package init(
        makeEncoder: @escaping @Sendable (StoreToEncode) throws -> any ColumnsEncoder,
        makeDecoder: @escaping @Sendable (StoreToMake) throws -> any ColumnsDecoder,
        makeDeltaEncoder: @escaping @Sendable (StoreToEncode, BaseToReferTo) throws -> any ColumnsEncoder,
        makeDeltaDecoder: @escaping @Sendable (StoreToMake, _ base: FilePath) throws -> any ColumnsDecoder
    ) {
        self.makeEncoder = makeEncoder
        self.makeDecoder = makeDecoder
        self.makeDeltaEncoder = makeDeltaEncoder
        self.makeDeltaDecoder = makeDeltaDecoder
    }
}

/// Whether a producer decodes what it encodes before it counts on it.
public enum SelfCheck: Hashable, Sendable {
    case on
    /// The consumer finds what is wrong, by its SHA-256: later, and in one-way mode too late.
    case off
}

/// What an encoder is to encode.
package struct StoreToEncode: Sendable {
    /// A canonical copy that nobody changes meanwhile.
    package let path: FilePath
    package let facts: StoreFacts
    /// What the entries of its indexes are made of, by the names of the indexes.
    package let shapes: [String: IndexShape]
    /// Looked at before each segment.
    package let dial: EffortDial
    package let selfCheck: SelfCheck
    /// How many segments are encoded at the same time.
    package let cores: Int
    /// Whether a link has nothing to do until the first segment is there.
    package let isAwaited: Bool
    /// What the bytes of working files are counted in.
    package let room: (any SpillRoom)?
    /// What has been encoded of it before, and is not encoded again.
    package let earlier: EarlierPieces?

    package init(
        path: FilePath, facts: StoreFacts, shapes: [String: IndexShape], dial: EffortDial, selfCheck: SelfCheck,
        cores: Int, isAwaited: Bool, room: (any SpillRoom)? = nil, goingOnAfter earlier: EarlierPieces? = nil
    ) {
        self.path = path
        self.facts = facts
        self.shapes = shapes
        self.dial = dial
        self.selfCheck = selfCheck
        self.cores = max(1, cores)
        self.isAwaited = isAwaited
        self.room = room
        self.earlier = earlier
    }
}

/// What a delta is made against, and when it is given up.
package struct BaseToReferTo: Sendable {
    /// A file that nobody changes meanwhile, with the bytes of the one that the other side has.
    package let path: FilePath
    /// Whether the new store is in canonical form, so that its rows can go; else its bytes do.
    package let goesByRows: Bool
    /// Bytes of all segments, at most.
    package let limit: Int64

    package init(_ path: FilePath, goesByRows: Bool, limit: Int64) {
        self.path = path
        self.goesByRows = goesByRows
        self.limit = limit
    }
}

/// What a decoder is to make.
package struct StoreToMake: Sendable {
    /// Where the store is to be: there is no such file yet. Working files go beside it, under names that begin with its own
    /// name and `.part-`, and go away with the decoder at the latest.
    package let path: FilePath
    /// As the manifest says; not to be believed.
    package let facts: StoreFacts
    /// What the bytes of working files are counted in.
    package let room: (any SpillRoom)?

    package init(path: FilePath, facts: StoreFacts, room: (any SpillRoom)? = nil) {
        self.path = path
        self.facts = facts
        self.room = room
    }
}

/// Why a store cannot go by its rows. It goes in blocks then.
package enum ColumnsFailure: Error, Hashable, Sendable {
    /// It would not come back byte for byte, or not be smaller.
    case unsuitable
    /// What was encoded does not decode to the store, as the self-check found.
    case selfCheckFailed
}
