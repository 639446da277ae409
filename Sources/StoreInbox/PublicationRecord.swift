package import EssentialFoundation
package import ShipProtocol
package import StoreFiles
import SystemPackage

/// An inbox's record of a publication: an older head does not count any more, whoever shows it.
///
/// Source: `Protocol/PUBLISHED.md` section 4.
package struct PublicationRecord: Hashable, Sendable, Codable {
    package let publication: ContentDigest
    /// The id of the device whose heads are taken.
    package let publisher: ContentDigest
    /// Those of the devices that published it before, the last one first.
    package let former: [ContentDigest]
    /// The highest number of a head.
    package let number: UInt64
    /// The digest of the last head of the device before; `nil` once there is one of the publisher.
    package let last: ContentDigest?
    /// Of the device that has signed the last head that was seen.
    package let certificate: Data?

    /// Largest file that is read, in bytes.
    fileprivate static let sizeLimit: Int64 = 16 * 1024

    package init(
        publication: ContentDigest, publisher: ContentDigest, former: [ContentDigest], number: UInt64,
        last: ContentDigest?, certificate: [UInt8]
    ) {
        (self.publication, self.publisher, self.former) = (publication, publisher, former)
        (self.number, self.last, self.certificate) = (number, last, Data(certificate))
    }
}

extension InboxFolder {
    /// - Parameter place: What the publication is called.
    /// - Returns: `nil` if nothing has been seen there yet.
    /// - Throws: `.badRecord`, `.file`.
    package func publicationRecord(at place: String) throws(InboxError) -> PublicationRecord? {
        let path = layout.publicationRecord(at: place)
        return try files.record(
            at: path, upTo: PublicationRecord.sizeLimit, .badRecord(path, flaw: "it does not say what was published"))
    }

    /// Removes what a receiver left that was killed as it wrote a record of the whole inbox. Only the owner of the inbox does, when it
    /// starts: later they may be its own.
    package func removeAsides() throws(FileError) {
        for name in try files.names(in: layout.depot)
        where isAside(name) || name == layout.failureAside.lastComponent?.text {
            let aside = layout.depot.appending(text: name)
            if try files.statusIfThere(of: aside)?.kind == .file { try files.removeFile(aside) }
        }
    }

    private func isAside(_ name: String) -> Bool {
        let prefix = "\(InboxLayout.publicationAside)-"
        return name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil
    }

    /// Writes the record durably, in one step. Others of the inbox may be written meanwhile.
    ///
    /// - Throws: `.file`.
    package func write(_ record: PublicationRecord, at place: String) throws(InboxError) {
        let path = layout.publicationRecord(at: place)
        let aside = layout.depot.appending("\(InboxLayout.publicationAside)-\(UUID().uuidString)")
        try InboxError.wrapping { () throws(FileError) in
            try files.replace(path, with: record.jsonBytes, aside: aside)
            try files.sync(layout.depot)
        }
    }
}
