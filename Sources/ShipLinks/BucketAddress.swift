import ShipProtocol

/// A place in S3-compatible storage: a bucket, and what the keys in it begin with.
public struct BucketAddress: Hashable, Sendable {
    public let bucket: String
    /// Without a `/` at its end; empty for the whole bucket.
    public let prefix: String

    /// - Parameter text: `BUCKET/PREFIX`.
    /// - Returns: `nil` for what is no name of a bucket, and for a prefix with other characters than need no encoding in a key.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bucket = parts.first, (3...63).contains(bucket.utf8.count), bucket.utf8.allSatisfy(\.isOfName)
        else { return nil }
        var prefix = parts.count == 2 ? parts[1] : ""
        while prefix.last == "/" { prefix = prefix.dropLast() }
        guard prefix.utf8.count <= 512, prefix.utf8.allSatisfy({ $0.isOfName || $0 == UInt8(ascii: "/") }) else {
            return nil
        }
        (self.bucket, self.prefix) = (String(bucket), String(prefix))
    }

    var text: String { prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix)" }

    package func key(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix)/\(name)" }
}
