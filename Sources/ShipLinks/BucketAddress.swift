/// A place in S3-compatible storage: a bucket, and what the keys in it begin with.
public struct BucketAddress: Hashable, Sendable {
    public let bucket: String
    /// Without a `/` at its end; empty for the whole bucket.
    public let prefix: String

    /// - Parameter text: `BUCKET/PREFIX`.
    /// - Returns: `nil` for what is no name of a bucket, and for a prefix with other characters than need no encoding in a key.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bucket = parts.first, (3...63).contains(bucket.utf8.count), bucket.utf8.allSatisfy(Self.isOfBucket)
        else { return nil }
        var prefix = parts.count == 2 ? parts[1] : ""
        while prefix.last == "/" { prefix = prefix.dropLast() }
        guard prefix.utf8.count <= 512, prefix.utf8.allSatisfy(Self.isOfKey) else { return nil }
        (self.bucket, self.prefix) = (String(bucket), String(prefix))
    }

    private static func isOfBucket(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isOfKey(_ byte: UInt8) -> Bool { isOfBucket(byte) || byte == UInt8(ascii: "/") }

    var text: String { prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix)" }

    package func key(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix)/\(name)" }
}
