package import ShipProtocol
import StoreFiles
package import SystemPackage

/// Where publications lie, for who writes them.
package protocol PublicationStorage: PublicationReader {
    /// Whether it costs no requests to look at what is there.
    var isLocal: Bool { get }

    /// Puts an object there, durably. One that is there already is written again: it may be about to be removed.
    ///
    /// - Parameters:
    ///   - object: The file's digest and size.
    ///   - name: Its digest, unless it is encrypted.
    func put(_ object: PublishedObject, from file: FilePath, as name: ContentDigest) async throws

    /// Puts a head in the place of another, durably.
    ///
    /// - Parameter tag: Of the head that it replaces; `nil` for none.
    /// - Returns: What the storage calls the new head; nothing if it does not say, or could not tell another one from it. `nil` if another head
    ///   is there.
    func replaceHead(tagged tag: String?, with head: [UInt8]) async throws -> String?

    func objects() async throws -> [(name: ContentDigest, written: Timestamp)]

    /// Removes an object, unless it has been written again since. One that is not there is no error.
    ///
    /// - Returns: Whether it was removed.
    @discardableResult
    func remove(_ name: ContentDigest, writtenBefore time: Timestamp) async throws -> Bool

    /// Gives up objects that are only in part there, of which nobody has heard, and that may cost money: their publisher was killed.
    func abandonUploads(begunBefore time: Timestamp) async throws
}

extension PublicationStorage {
    package var isLocal: Bool { false }

    package func abandonUploads(begunBefore time: Timestamp) async throws {}

    /// Puts bytes there as an object; on the way they are written to the file.
    func put(_ bytes: [UInt8], by file: FilePath) async throws -> PublishedObject {
        let object = PublishedObject(sha256: ContentDigest(hashing: bytes), size: Int64(bytes.count))
        try OpenFile.creating(file).write(bytes)
        try await put(object, from: file, as: object.sha256)
        return object
    }
}
