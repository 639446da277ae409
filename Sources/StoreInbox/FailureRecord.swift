package import ShipProtocol
import StoreFiles
import SystemPackage

/// The last failure of each store of which nothing has succeeded since: `.failed`, beside the folders of the stores. A store that was
/// refused before it had a folder gets none for that.
///
/// It is for people and for monitors, and nothing else depends on it: one that cannot be read counts as empty.
package struct FailureRecord: Hashable, Sendable, Codable {
    /// The failures, the oldest first; one of each store.
    package let failures: [Failure]

    fileprivate init(failures: [Failure]) { self.failures = failures }

    /// Why shipments of a store do not arrive.
    package struct Failure: Hashable, Sendable, Codable {
        package let name: StoreName
        /// The kind, in one word.
        package let code: ForeignText
        /// The failure, for people.
        package let error: ForeignText
        /// The next thing to do, if there is one.
        package let hint: ForeignText?
        /// When the first one failed after the last that succeeded.
        package let since: Timestamp
        /// When the last one failed.
        package let at: Timestamp
    }

    /// Most failures: the oldest are forgotten.
    package static let longest = 128
    /// Most characters (Unicode scalars) of a text.
    private static let textLength = 512
    /// Largest file that is read, in bytes.
    fileprivate static let sizeLimit: Int64 = 1 << 20

    package static let empty = FailureRecord(failures: [])

    /// The record once a shipment has failed.
    package func adding(
        _ name: StoreName, _ code: String, _ error: PrintableText, hint: PrintableText?, at time: Timestamp
    ) -> FailureRecord {
        func cut(_ text: String) -> ForeignText { ForeignText(String(text.unicodeScalars.prefix(Self.textLength))) }
        let failure = Failure(
            name: name, code: cut(code), error: cut(error.text), hint: hint.map { cut($0.text) },
            since: failures.first { $0.name == name }?.since ?? time, at: time)
        return FailureRecord(failures: Array((removing(name).failures + [failure]).suffix(Self.longest)))
    }

    /// The record once a shipment has succeeded.
    package func removing(_ name: StoreName) -> FailureRecord {
        FailureRecord(failures: failures.filter { $0.name != name })
    }
}

extension InboxFolder {
    package var failureRecord: FailureRecord {
        let record: FailureRecord? = files.recordIfReadable(at: layout.failureRecord, upTo: FailureRecord.sizeLimit)
        return FailureRecord(failures: Array((record?.failures ?? []).suffix(FailureRecord.longest)))
    }
}
