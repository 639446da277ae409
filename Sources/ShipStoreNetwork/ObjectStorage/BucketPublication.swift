import EssentialFoundation
import ShipProtocol
import ShipStore
import ShipTransport
import StoreFiles
import Synchronization
import SystemPackage

/// A publication in S3-compatible storage: its keys are the names of the files of `Protocol/PUBLISHED.md`, after a prefix.
///
/// Source: `Protocol/PUBLISHED.md` section 5.
struct BucketPublication: PublicationStorage {
    private let client: StorageClient
    private let address: BucketAddress
    private let isUnconditional: Bool
    /// The header that tells caches what to do with a head.
    private let headCaching: String
    private let sizes: MultipartUpload.Sizes
    /// A file that is there once the bucket has honoured conditions; `nil` where nothing is remembered.
    private let proof: FilePath?

    private static let objectCaching = "public, max-age=31536000, immutable"
    /// Most pages of a list, and most objects in all: no publication comes near.
    private static let (mostPages, mostListed) = (100_000, 1_000_000)

    private var place: Endpoint { .bucket(address) }
    package var server: String { client.origin }

    /// - Parameter folder: Where this device remembers that a bucket honours conditions.
    /// - Throws: `.publication(.noCredentials)`, and what is wrong with the options.
    init(
        at address: BucketAddress, _ options: StorageOptions, _ timeouts: Timeouts, trusting authorities: FilePath?,
        remembering folder: FilePath? = nil,
        _ retries: Retries = Retries(), _ sizes: MultipartUpload.Sizes = MultipartUpload.Sizes(),
        _ settings: @escaping @Sendable () -> StorageSettings = { StorageSettings() }
    ) throws(PublicationError) {
        (self.address, self.sizes, isUnconditional) = (address, sizes, options.isUnconditional)
        let seconds = Int((options.headCache / .seconds(1)).rounded())
        headCaching = "max-age=0,s-maxage=\(seconds),stale-while-revalidate=\(seconds)"
        client = try StorageClient(of: address, options, timeouts, trusting: authorities, retries, settings)
        let bucket = ContentDigest(hashing: "\(client.origin) \(address.bucket)".utf8)
        proof = folder?.appending("honours-conditions-\(bucket.hex.prefix(16))")
    }

    // MARK: Reading

    package func head(unlike tag: String?, fresh isFresh: Bool) async throws -> FetchedHead {
        var headers: [(String, String)] = []
        if let tag, !tag.isEmpty { headers.append(("If-None-Match", tag)) }
        var bytes: [UInt8] = []
        let answer = try await client.send(
            StorageClient.Request(method: "GET", name: "head", headers: headers), accepting: [200, 304, 404],
            taking: { piece in
                bytes += piece.prefix(Limits.headSize + 1 - bytes.count)
                return bytes.count <= Limits.headSize
            },
            resuming: { _ in
                bytes = []
                return true
            })
        switch answer.status {
        case 304: return .unchanged
        case 404 where answer.code == "NoSuchBucket": throw client.error(answer)
        case 404: return .none
        default: return .head(bytes, tag: answer.response["ETag"] ?? "")
        }
    }

    package func object(
        _ digest: ContentDigest, from offset: Int64, upTo limit: Int64, _ take: (Int64, [UInt8]) throws -> Void
    ) async throws {
        var (known, position) = (offset, Int64(0))
        let answer = try await client.send(
            StorageClient.Request(method: "GET", name: "objects/\(digest.hex)", offset: offset, size: limit - offset),
            accepting: [200, 206, 404, 416],
            beginning: { response in
                position = try response.start(notAfter: known, at: place)
            },
            taking: { piece in
                let taken = piece.prefix(Int(clamping: limit - position))
                try take(position, Array(taken))
                position += Int64(taken.count)
                known = max(known, position)
                return position < limit
            },
            resuming: { request in
                request.begin(at: known)
                return true
            })
        switch answer.status {
        case 404: throw PublicationError.objectGone(place, digest)
        case 416 where known > 0: try await object(digest, from: 0, upTo: limit, take)
        case 416: throw client.error(answer)
        default: break
        }
    }

    // MARK: Writing

    package func put(_ object: PublishedObject, from file: FilePath, as name: ContentDigest) async throws {
        let (path, headers) = ("objects/\(name.hex)", [("Cache-Control", Self.objectCaching)])
        guard object.size > sizes.whole else {
            let answer = try await client.send(
                StorageClient.Request(
                    method: "PUT", name: path, headers: headers, body: .file(file, size: object.size),
                    payload: object.sha256,
                    size: object.size), accepting: [200])
            _ = try tag(of: answer)
            return
        }
        let upload = MultipartUpload(client: client, name: path, headers: headers)
        if try await upload.put(file, size: object.size, sizes) { return }
        var end = Int64(0)
        try await self.object(name, from: object.size - 1, upTo: object.size) { end = $0 + Int64($1.count) }
        guard end == object.size else { throw PublicationError.objectGone(place, name) }
    }

    package func replaceHead(tagged tag: String?, with head: [UInt8]) async throws -> String? {
        let isProven = proof.map { (try? PlatformCalls.isThere($0)) == true } ?? (tag != nil)
        if !isUnconditional, !isProven { try await probe(head) }
        guard let tag else { return try await write(head, ("If-None-Match", "*")) }
        if let new = try await write(head, ("If-Match", tag)) { return new }
        // Some compare with the tag without its quotes.
        let bare = tag.replacing("\"", with: "")
        guard bare != tag, case .unchanged = try await self.head(unlike: tag, fresh: true) else { return nil }
        return try await write(head, ("If-Match", bare))
    }

    /// - Returns: The head's tag, or nothing where no condition keeps another program from replacing it; `nil` if the condition does not hold.
    private func write(_ head: [UInt8], _ condition: (String, String)) async throws -> String? {
        let tag = try await write(head, at: "head", caching: headCaching, if: isUnconditional ? nil : condition)
        return isUnconditional ? tag.map { _ in "" } : tag
    }

    private func write(
        _ bytes: [UInt8], at path: String, caching: String, if condition: (String, String)?
    ) async throws -> String? {
        let answer = try await client.send(
            StorageClient.Request(
                method: "PUT", name: path, headers: [("Cache-Control", caching)] + [condition].compactMap(\.self),
                body: .bytes(bytes), payload: ContentDigest(hashing: bytes), size: Int64(bytes.count)),
            // A conflict with another writer is one that has come first, or none: the head says which. There may be no head any more.
            accepting: [200, 404, 409, 412, 501])
        switch answer.status {
        case 200: return try tag(of: answer)
        case 501: throw PublicationError.ignoresConditions(place)
        case 404 where answer.code != "NoSuchKey": throw client.error(answer)
        default: return nil
        }
    }

    /// - Throws: `.badAnswer` for one without a tag: something else than a storage has answered.
    private func tag(of answer: StorageAnswer) throws(PublicationError) -> String {
        guard let tag = answer.response["ETag"] else { throw .badAnswer(place) }
        return tag
    }

    /// Tries whether conditions are honoured, as nothing else keeps two publishers apart: with an object, before a head is written for the first time.
    private func probe(_ head: [UInt8]) async throws {
        let path = "objects/\(ContentDigest(hashing: head).hex)"
        let tag = "\"\(ContentDigest(hashing: head + [0]).hex.prefix(32))\""
        guard try await write(head, at: path, caching: Self.objectCaching, if: nil) != nil else {
            throw PublicationError.contended(place)
        }
        var isIgnored = false
        for condition in [("If-None-Match", "*"), ("If-Match", tag)] where !isIgnored {
            isIgnored = try await write(head, at: path, caching: Self.objectCaching, if: condition) != nil
        }
        // Where it may not be removed it is an object that nothing needs.
        _ = try? await client.send(StorageClient.Request(method: "DELETE", name: path), accepting: [200, 204, 404])
        if isIgnored { throw PublicationError.ignoresConditions(place) }
        guard let proof else { return }
        try? Folder.make(proof.removingLastComponent(), durably: false)
        try? OpenFile.creating(proof).write([])
    }

    package func objects() async throws -> [(name: ContentDigest, written: Timestamp)] {
        var found: [(name: ContentDigest, written: Timestamp)] = []
        try await list(
            "Contents", [("list-type", "2")], next: [("continuation-token", "NextContinuationToken")]
        ) { name, element in
            if let written = element.time(of: "LastModified") { found.append((name, written)) }
        }
        return found
    }

    /// Reads a list of objects, page by page.
    ///
    /// - Parameters:
    ///   - element: Of the XML, for each.
    ///   - markers: The parameters that ask for the next page, and the elements that say it.
    /// - Throws: `.badAnswer` for a list that does not end.
    private func list(
        _ element: String, _ query: [(String, String)], next markers: [(String, String)],
        accepting statuses: Set<Int> = [200], _ take: (ContentDigest, StorageAnswer) -> Void
    ) async throws {
        let prefix = address.key("objects/")
        var (marks, pages, count) = ([(String, String)](), Set<String>(), 0)
        repeat {
            let answer = try await client.send(
                StorageClient.Request(method: "GET", name: nil, query: query + [("prefix", prefix)] + marks),
                accepting: statuses)
            guard answer.status == 200 else { return }
            for element in answer.elements(element) {
                guard let key = element.values(of: "Key").first, key.hasPrefix(prefix),
                    let name = ContentDigest(hex: key.dropFirst(prefix.count))
                else { continue }
                count += 1
                take(name, element)
            }
            let hasMore = answer.values(of: "IsTruncated").first == "true"
            marks =
                !hasMore ? [] : markers.compactMap { mark, name in answer.values(of: name).first.map { (mark, $0) } }
            guard marks.isEmpty || pages.insert(marks.map(\.1).joined(separator: "\n")).inserted,
                pages.count <= Self.mostPages, count <= Self.mostListed
            else { throw PublicationError.badAnswer(place) }
        } while !marks.isEmpty
    }

    package func remove(_ name: ContentDigest, writtenBefore time: Timestamp) async throws -> Bool {
        let path = "objects/\(name.hex)"
        // Another program may have written it again since it was listed.
        let answer = try await client.send(StorageClient.Request(method: "HEAD", name: path), accepting: [200, 404])
        guard answer.status == 200, answer.modified.map({ $0 < time }) ?? true else { return false }
        _ = try await client.send(StorageClient.Request(method: "DELETE", name: path), accepting: [200, 204, 404])
        return true
    }

    package func abandonUploads(begunBefore time: Timestamp) async throws {
        var found: [(name: ContentDigest, id: String)] = []
        try await list(
            "Upload", [("uploads", "")],
            next: [("key-marker", "NextKeyMarker"), ("upload-id-marker", "NextUploadIdMarker")],
            // Some do not list them, or not to everybody.
            accepting: [200, 400, 403, 404, 405, 501]
        ) { name, element in
            guard let id = element.values(of: "UploadId").first, let begun = element.time(of: "Initiated"), begun < time
            else { return }
            found.append((name, id))
        }
        for (name, id) in found {
            try await MultipartUpload(client: client, name: "objects/\(name.hex)", headers: []).abort(id)
        }
    }
}
