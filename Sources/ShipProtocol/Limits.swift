/// The limits of protocol version 1. Code compares each length from outside with one of these before it allocates memory for it.
///
/// Source: `Protocol/README.md` section 9.
package enum Limits {
    /// Longest HELLO, ANSWER, RECEIPT, REFUSAL or CANCEL, as JSON, in bytes: checked while it inflates.
    package static let messageSize = 256 * 1024
    /// Longest certificate of a signed shipment, in bytes.
    package static let certificateSize = 4 * 1024
    /// Longest manifest, as JSON, in bytes: checked while it inflates.
    package static let manifestSize = 4 * 1024 * 1024
    /// Most bytes that one block decodes to.
    package static let blockSize = 1024 * 1024
    /// Most bytes by which an encoded block may exceed `blockSize`.
    package static let blockOverhead = 1024
    /// Longest encoded segment of a store, in bytes.
    package static let segmentSize = 4 * 1024 * 1024 + 1024
    /// Most bytes by which the segments of a store may exceed its size, together.
    package static let segmentsOverhead: Int64 = 1024 * 1024
    /// Longest request that compares a base, and longest answer, in bytes.
    package static let comparisonSize = 1024 * 1024
    /// Most of these requests for one shipment.
    package static let comparisons = 8
    /// Longest payload of an optional frame, known or not, in bytes.
    package static let optionalFrameSize = 64 * 1024
    /// Largest store or external file, in bytes: SQLite's own limit of 2^32 - 2 pages of 65,536 bytes.
    package static let partSize: Int64 = 281_474_976_579_584
    /// Most external files of one store.
    package static let externalFiles = 16_384
    /// Most parts of an answer that names a base for external files: with more parts, it would be too long.
    package static let partsOverBase = 1024
    /// Longest store name, in bytes.
    package static let nameLength = 128
    /// Most pairs of metadata.
    package static let metadataPairs = 64
    /// Longest metadata key and value, in bytes of UTF-8.
    package static let metadataKeyLength = 64
    package static let metadataValueLength = 1024
    /// Most entities whose version hashes a manifest lists.
    package static let entities = 4096
    /// Most tables that a manifest describes, and most that it lists as emptied.
    package static let tables = 2048
    /// Longest name of a table, entity name, identity, software or SQLite version, in bytes of UTF-8.
    package static let labelLength = 256
    /// Most names in a list of encodings or required features.
    package static let features = 64
    /// Most stores that HELLO names as held.
    package static let heldStores = 1024
    /// Most stores that a holdings file names.
    package static let holdings = 1024
    /// Most generations of a store, beside the current one, that HELLO names.
    package static let keptGenerations = 16
    /// Most bytes of manifests' contents that a consumer keeps in a session for manifests to refer to.
    package static let heldContents = 256 * 1024
    /// Highest number of a generation: 2^53 - 1, which every JSON reader holds exactly.
    package static let generation = 9_007_199_254_740_991
    /// Furthest position in the stream of a part: 2^53 - 1, for the same reason.
    package static let streamPosition: Int64 = 9_007_199_254_740_991
    /// How far a producer's next counter may be ahead of the highest one that the consumer has seen.
    package static let counterLead: UInt64 = 1 << 32
    /// Longest message of a refusal or a cancellation, in bytes of UTF-8.
    package static let reasonLength = 1024
    /// Longest head of a publication, in bytes.
    package static let headSize = 256 * 1024
    /// Most bytes that a head or a catalog inflates to: checked while it does.
    package static let publicationText = 1024 * 1024
    /// Longest catalog, in bytes.
    package static let catalogSize = 64 * 1024
    /// Most bytes of an object that has the shipments of several steps.
    package static let bundleSize = 64 * 1024
    /// Most steps of a store that a head lists, and that a catalog does.
    package static let publishedSteps = 256
    /// Most catalogs of a store that a follower reads at a time.
    package static let catalogs = 256
    /// Most states of a store that a head has, each for other followers.
    package static let statesOfStore = 4
    /// Most stages of a rollout.
    package static let rolloutStages = 16
    /// Most devices that can read an encrypted publication, its publisher included.
    package static let recipients = 101
    /// Most devices that have published a publication before the one that does now.
    package static let formerPublishers = 16
}
