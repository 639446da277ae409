/// Why a store may not come under the name of one that a consumer holds, by the two manifests.
public enum SuccessionError: Error, Hashable, Sendable {
    /// The held store has an identity, and the new one has another, or none.
    case otherIdentity
    /// Neither has an identity, and they have no name of a table in common.
    case noTableInCommon
    /// Neither has an identity, the tables of one are known neither by its manifest nor by its file, and the schemas differ.
    case otherSchema
    /// The new store is empty, and the held one is not.
    case isEmpty
}
