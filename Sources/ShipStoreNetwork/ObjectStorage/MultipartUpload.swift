import ShipProtocol
import ShipTransport
import StoreFiles
import SystemPackage

/// Puts an object there in parts, which are read as they are sent: a link that breaks costs a part again, and not all of it. A few are on their
/// way at a time, so that a link on which answers take long is full.
///
/// Source: docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html: a part has at least 5 MiB, unless it is the last one, and there are at most
/// 10,000.
struct MultipartUpload {
    /// The largest size that goes in one piece, and that of parts, in bytes.
    struct Sizes: Sendable {
        var whole: Int64 = 64 * 1024 * 1024
        var part: Int64 = 16 * 1024 * 1024

        fileprivate static let mostParts: Int64 = 10_000

        fileprivate func parts(of size: Int64) -> [Range<Int64>] {
            let part = max(part, (size + Self.mostParts - 1) / Self.mostParts)
            return stride(from: 0, to: size, by: Int(clamping: part)).map { $0..<min($0 + part, size) }
        }
    }

    /// Most parts that are on their way at a time.
    private static let mostInFlight = 3

    let client: StorageClient
    /// Below the prefix.
    let name: String
    /// Of the object.
    let headers: [(String, String)]

    /// - Returns: Whether the storage says that the object is there. It does not where it knows of no such upload any more: it may have said so before,
    ///   in an answer that was lost.
    /// - Throws: `.storage`, `LinkError`, `FileError`.
    func put(_ file: FilePath, size: Int64, _ sizes: Sizes) async throws -> Bool {
        let begun = try await client.send(
            // With a length of 0: without one the body would be chunked, which storage does not take.
            StorageClient.Request(
                method: "POST", name: name, query: [("uploads", "")], headers: headers, body: .bytes([])),
            accepting: [200])
        guard let id = begun.values(of: "UploadId").first else { throw client.error(begun) }
        do {
            let parts = sizes.parts(of: size)
            let tags = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                var tags = [String](repeating: "", count: parts.count)
                for (index, range) in parts.enumerated() {
                    if index >= Self.mostInFlight, let (done, tag) = try await group.next() { tags[done] = tag }
                    try Task.checkCancellation()
                    group.addTask { (index, try await put(range, of: file, number: index + 1, id)) }
                }
                for try await (done, tag) in group { tags[done] = tag }
                return tags
            }
            return try await complete(id, tags, size)
        } catch {
            // What has come of it costs money as long as it is there. It is given up where the work was cancelled, too.
            await Task { try? await abort(id) }.value
            throw error
        }
    }

    /// - Returns: What the storage calls the part.
    private func put(_ range: Range<Int64>, of file: FilePath, number: Int, _ id: String) async throws -> String {
        let size = range.upperBound - range.lowerBound
        let digest = try ContentDigest(ofFile: OpenFile.readingWithoutFollowing(file), in: range)
        let answer = try await client.send(
            StorageClient.Request(
                method: "PUT", name: name, query: [("partNumber", "\(number)"), ("uploadId", id)],
                body: .file(file, from: range.lowerBound, size: size), payload: digest,
                // Those beside it take their share of the link.
                size: size * Int64(Self.mostInFlight)), accepting: [200])
        guard let tag = answer.response["ETag"] else { throw client.error(answer) }
        return tag
    }

    /// - Throws: `.storage` also for an error that comes with the status 200, as it may where completing takes long.
    private func complete(_ id: String, _ tags: [String], _ size: Int64) async throws -> Bool {
        let parts = tags.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(tag.replacing("\"", with: "&quot;"))</ETag></Part>"
        }
        let body = Array("<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>".utf8)
        let answer = try await client.send(
            StorageClient.Request(
                method: "POST", name: name, query: [("uploadId", id)], body: .bytes(body),
                payload: ContentDigest(hashing: body),
                size: size), accepting: [200, 404])
        guard answer.status == 404 ? answer.code == "NoSuchUpload" : answer.values(of: "Error").isEmpty else {
            throw client.error(answer)
        }
        return answer.status == 200
    }

    /// One that is not there is no error.
    func abort(_ id: String) async throws {
        _ = try await client.send(
            StorageClient.Request(method: "DELETE", name: name, query: [("uploadId", id)]), accepting: [200, 204, 404])
    }
}
