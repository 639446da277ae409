public import ShipStore

/// Why what came over a session is no message of this exchange. It changes nothing; the other half asks again in time.
public enum TransferMessageError: Error, Hashable, Sendable {
    /// The other half is of a version that this one does not know.
    case otherVersion(ForeignText)
    /// An entry is missing.
    case missing(key: String)
    /// An entry is not what it should be.
    case malformed(key: String)
    /// It is no kind of message, or one that only the other half understands.
    case notForThisHalf
    /// What the other half says that it holds cannot be read.
    case badHoldings(ForeignText)
    /// What came as a file cannot be read, or not be kept.
    case file(FileError)
    /// Too many files wait to be taken in.
    case tooMany
}
