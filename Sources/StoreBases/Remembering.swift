/// What became of a copy that was to be remembered.
package enum Remembering: Hashable, Sendable {
    case remembered
    case declined(Cause)
    case failed(BaseMemoryError)

    package enum Cause: Hashable, Sendable {
        /// It is larger than everything together may be.
        case tooLarge
        /// The disk is too full, whatever else would be forgotten.
        case noRoom
        /// What comes with it is longer than its limit.
        case tooLong
        /// The file is not the manifest's.
        case otherFile
    }
}
