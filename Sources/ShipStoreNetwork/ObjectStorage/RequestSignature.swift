import Crypto
import ShipProtocol
import StoreFiles

/// The signature of a request to S3-compatible storage, with the digest of what is sent.
///
/// Source: docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
struct RequestSignature {
    private static let algorithm = "AWS4-HMAC-SHA256"

    /// The header fields that sign a request.
    ///
    /// - Parameters:
    ///   - path: As it is sent.
    ///   - query: The names and values, encoded.
    ///   - payload: The digest of the body; `nil` where there is none: nothing is to be signed then, and that is shorter.
    ///   - time: Now, as the server has it.
    static func headers(
        _ method: String, host: String, path: String, query: [(String, String)], payload: ContentDigest?,
        region: String, _ credentials: StorageCredentials, at time: Timestamp
    ) -> [(String, String)] {
        let date = time.compactText + "Z"
        let digest = payload?.hex ?? "UNSIGNED-PAYLOAD"
        var fields = [("host", host), ("x-amz-content-sha256", digest), ("x-amz-date", date)]
        if let token = credentials.token { fields.append(("x-amz-security-token", token)) }
        let names = fields.map(\.0).joined(separator: ";")
        let request = [
            method, path,
            query.sorted { $0.0 < $1.0 }.map { "\($0)=\($1)" }.joined(separator: "&"),
            fields.map { "\($0):\($1)\n" }.joined(), names, digest,
        ].joined(separator: "\n")
        let day = String(date.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = [algorithm, date, scope, ContentDigest(hashing: request.utf8).hex].joined(separator: "\n")
        var key = Array("AWS4\(credentials.secret)".utf8)
        for part in [day, region, "s3", "aws4_request", text] {
            key = Array(HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: SymmetricKey(data: key)))
        }
        let signature = ContentDigest(sha256: key).hex
        let authorization =
            "\(algorithm) Credential=\(credentials.key)/\(scope),SignedHeaders=\(names),Signature=\(signature)"
        return fields.dropFirst() + [("Authorization", authorization)]
    }
}
