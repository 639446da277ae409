import EssentialFoundation
import ShipProtocol
import ShipTransport

/// An answer of S3-compatible storage.
struct StorageAnswer {
    let response: WebClient.Response
    /// The content, if it is short; `[]` where it was taken in pieces.
    let text: String
    /// When the content had come.
    var received = Date()

    var status: Int { response.status }

    /// The values of an element of the XML, wherever it stands; what is in them is no more XML, but for the five entities.
    func values(of name: String) -> [String] {
        contents(of: name).map(Self.plain)
    }

    /// The first elements of this name, each with all that is in it.
    func elements(_ name: String) -> [StorageAnswer] {
        contents(of: name).map { StorageAnswer(response: response, text: String($0), received: received) }
    }

    private func contents(of name: String) -> [Substring] {
        text.split(separator: "<\(name)>", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
            rest.firstRange(of: "</\(name)>").map { rest[..<$0.lowerBound] }
        }
    }

    /// A time in the content, by this device's clock.
    func time(of name: String) -> Timestamp? {
        values(of: name).first.flatMap { Timestamp(String($0.prefix(19)) + "Z") }.map { here($0.date) }
    }

    /// When the object was written that is asked for, by this device's clock.
    var modified: Timestamp? { response.modified.map(here) }

    /// A time of the storage's clock. The difference is known to a few seconds: what is less is none.
    private func here(_ time: Date) -> Timestamp {
        let ahead = response.date?.timeIntervalSince(received) ?? 0
        return Timestamp(time.addingTimeInterval(abs(ahead) < 5 ? 0 : -ahead))
    }

    private static func plain(_ text: Substring) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")].reduce(String(text)) {
            $0.replacing($1.0, with: $1.1)
        }
    }

    /// The storage's own word for what is wrong.
    var code: String { values(of: "Code").first ?? "\(status)" }

    /// In which region the bucket is, if the storage says so.
    var region: String? {
        let region = response["x-amz-bucket-region"] ?? values(of: "Region").first
        // It becomes a part of the server's name.
        return region.flatMap { $0.utf8.allSatisfy(Self.isOfRegion) && !$0.isEmpty ? $0 : nil }
    }

    private static func isOfRegion(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
