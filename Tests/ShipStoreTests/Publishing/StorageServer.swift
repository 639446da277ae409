import Foundation
import ShipLinks
import ShipProtocol
import ShipStore
import ShipTransport
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport

@testable import ShipStoreNetwork

/// S3-compatible storage on loopback, which does wrong what a test says, at the request that it says.
final class StorageServer: Sendable {
    enum Fault: CaseIterable, Sendable {
        /// Nothing is done; the connection is closed.
        case closed
        /// It is done, and nobody hears of it.
        case answerLost
        /// The storage says so, and has done nothing.
        case conflict, preconditionFailed, tooMany, failed, down, bodyTooSlow
        /// It is done, and the storage says that it was not.
        case failedAfter
        /// Half of the answer comes; then the connection is closed.
        case cut
        /// The same, and the rest is not to be had by a range: all comes, or the part with the status of all.
        case cutWithoutRanges, cutWithRangeAsWhole
        case endless
        /// The head before.
        case stale
        /// It takes a while.
        case slow

        /// Whether it is also tried from a request on: in a short run one is.
        var canLast: Bool { self == .down || Soak.isOn && [.closed, .stale].contains(self) }
        /// Whether it makes a difference to who only reads.
        var isOfReading: Bool { ![.answerLost, .failedAfter].contains(self) }
    }

    /// What lies there.
    struct Content {
        var heads: [[UInt8]] = []
        var objects: [String: [UInt8]] = [:]
        /// Objects that are only in part there, by id.
        var uploads: [String: Upload] = [:]
    }

    struct Upload {
        let path: String
        let headers: [String: String]
        var parts: [Int: [UInt8]] = [:]
    }

    fileprivate struct State {
        var content = Content()
        var fault: (kind: Fault, at: Int, lasts: Bool)?
        var requests = 0
        var rangesAreBroken: Fault?
        var flaws: [String] = []
        var uploadsBegun = 0
        var (ignoresConditions, forbidsRemoval) = (false, false)
    }

    fileprivate final class Shelf: Sendable { let state = Mutex(State()) }

    /// What goes in parts.
    static let sizes = MultipartUpload.Sizes(whole: 4000, part: 3000)

    private let shelf: Shelf
    private let server: HTTPServer

    /// - Parameter delay: Called with each request before anything is done, on a thread of its connection.
    init(_ delay: @escaping @Sendable (HTTPServer.Request) -> Void = { _ in }) throws {
        let shelf = Shelf()
        self.shelf = shelf
        server = try HTTPServer { request in
            delay(request)
            return shelf.state.withLock { $0.answer(to: request) }
        }
    }

    /// The publication that lies in storage on this port.
    static func publication(
        onPort port: UInt16, remembering folder: FilePath? = nil
    ) throws -> (storage: BucketPublication, place: Endpoint) {
        let place = try Endpoint("s3://bucket/kitchen")
        guard case .bucket(let address) = place, case .web(let endpoint) = try Endpoint("http://127.0.0.1:\(port)")
        else { throw PublicationError.cannotPublish(place) }
        var options = StorageOptions()
        options.endpoint = endpoint
        options.headCache = .seconds(5)
        let storage = try BucketPublication(
            at: address, options, Timeouts(), trusting: nil, remembering: folder, Retries(pause: .microseconds(10)),
            sizes
        ) { StorageSettings(["AWS_ACCESS_KEY_ID": "KEY", "AWS_SECRET_ACCESS_KEY": "SECRET"]) }
        return (storage, place)
    }

    /// Every write is done, whatever its condition.
    func ignoreConditions(forbiddingRemoval forbidsRemoval: Bool) {
        shelf.state.withLock { ($0.ignoresConditions, $0.forbidsRemoval) = (true, forbidsRemoval) }
    }

    /// Whether an object has come in parts.
    var hasSentParts: Bool { shelf.state.withLock { $0.uploadsBegun > 0 } }
    var port: UInt16 { server.port }
    var content: Content { shelf.state.withLock(\.content) }
    /// Requests since the last `set`.
    var requests: Int { shelf.state.withLock(\.requests) }
    /// What no publisher may do, and one has done.
    var flaws: [String] { shelf.state.withLock(\.flaws) }

    /// From now on a fault is due at the request of this number, from 0 on, or from it on; `nil` for none.
    func set(_ fault: (kind: Fault, at: Int, lasts: Bool)?) {
        shelf.state.withLock { state in
            (state.fault, state.requests, state.rangesAreBroken) = (fault, 0, nil)
        }
    }

    func set(_ content: Content) { shelf.state.withLock { $0.content = content } }
}

extension StorageServer.State {
    private typealias Answer = HTTPServer.Answer

    /// Each poll of each follower has them all.
    private static let neededHeaders: Set = [
        "host", "authorization", "x-amz-content-sha256", "x-amz-date", "if-match", "if-none-match", "range",
        "content-length", "cache-control",
    ]

    fileprivate mutating func answer(to request: HTTPServer.Request) -> HTTPServer.Answer {
        defer { requests += 1 }
        let needless = Set(request.headers.keys).subtracting(Self.neededHeaders)
        if !needless.isEmpty { flaws.append("headers that the storage can do without: \(needless.sorted())") }
        guard let fault, requests == fault.at || (fault.lasts && requests > fault.at) else { return honest(request) }
        func said(_ status: Int, _ code: String) -> Answer {
            Answer(status, [], Array("<Error><Code>\(code)</Code></Error>".utf8))
        }
        switch fault.kind {
        case .closed: return Answer([], .closes)
        case .conflict: return said(409, "ConditionalRequestConflict")
        case .preconditionFailed: return said(412, "PreconditionFailed")
        case .tooMany: return said(429, "TooManyRequests")
        case .failed: return said(500, "InternalError")
        case .down: return said(503, "SlowDown")
        case .bodyTooSlow: return said(400, "RequestTimeout")
        case .answerLost:
            _ = honest(request)
            return Answer([], .closes)
        case .failedAfter:
            _ = honest(request)
            return said(500, "InternalError")
        case .slow:
            Thread.sleep(forTimeInterval: 0.03)
            return honest(request)
        case .cut: return cut(honest(request))
        case .cutWithoutRanges, .cutWithRangeAsWhole:
            rangesAreBroken = fault.kind
            return cut(honest(request))
        case .endless:
            let answer = honest(request)
            let head = Answer(answer.status, ["ETag: \"x\""], nil)
            return Answer(head.bytes, .endless([UInt8](repeating: 120, count: 65_536)))
        case .stale:
            guard request.method == "GET", request.target.hasSuffix("/head"), content.heads.count > 1 else {
                return honest(request)
            }
            let last = content.heads.removeLast()
            defer { content.heads.append(last) }
            return honest(request)
        }
    }

    private func cut(_ answer: Answer) -> Answer {
        Answer(Array(answer.bytes.prefix(answer.bytes.count / 2)), .closes)
    }

    private mutating func honest(_ request: HTTPServer.Request) -> Answer {
        let target = request.target.replacing("/bucket/kitchen/", with: "").split(separator: "?", maxSplits: 1)
        let path = String(target.first ?? "")
        if path == "/bucket", target.count == 2 { return list(String(target[1])) }
        if target.count == 2, let answer = upload(request, at: path, query: String(target[1])) { return answer }
        switch request.method {
        case "PUT":
            guard request.headers["x-amz-content-sha256"] == ContentDigest(hashing: request.body).hex else {
                return Answer(400, [], Array("<Error><Code>XAmzContentSHA256Mismatch</Code></Error>".utf8))
            }
            let found = path == "head" ? content.heads.last : content.objects[path]
            if !ignoresConditions, Self.isInVain(request, over: found) { return Answer(412) }
            return path == "head" ? putHead(request) : putObject(request, at: path)
        case "HEAD": return Answer(content.objects[path] == nil ? 404 : 200)
        case "DELETE" where forbidsRemoval: return Answer(403)
        case "DELETE":
            content.objects[path] = nil
            return Answer(204)
        default: return path == "head" ? get(content.heads.last, request) : get(content.objects[path], request)
        }
    }

    /// All objects, or all that is there in part; they have been there for long.
    private func list(_ query: String) -> Answer {
        let time = "2020-11-20T19:04:05.000Z"
        let elements =
            query.contains("uploads")
            ? content.uploads.map { id, upload in
                "<Upload><Key>kitchen/\(upload.path)</Key><UploadId>\(id)</UploadId><Initiated>\(time)</Initiated></Upload>"
            }
            : content.objects.keys.map { key in
                "<Contents><Key>kitchen/\(key)</Key><LastModified>\(time)</LastModified></Contents>"
            }
        let list = "<List><IsTruncated>false</IsTruncated>\(elements.sorted().joined())</List>"
        return Answer(200, [], Array(list.utf8))
    }

    /// - Returns: `nil` for what has nothing to do with parts.
    private mutating func upload(_ request: HTTPServer.Request, at path: String, query: String) -> Answer? {
        func said(_ status: Int, _ code: String) -> Answer {
            Answer(status, [], Array("<Error><Code>\(code)</Code></Error>".utf8))
        }
        let pairs = query.split(separator: "&").map { $0.split(separator: "=", omittingEmptySubsequences: false) }
        let values = Dictionary(pairs.map { (String($0[0]), $0.count > 1 ? String($0[1]) : "") }) { first, _ in first }
        if values["uploads"] != nil, request.method == "POST" {
            if request.headers["content-length"] != "0" { flaws.append("a body without a length") }
            uploadsBegun += 1
            content.uploads["\(uploadsBegun)"] = StorageServer.Upload(path: path, headers: request.headers)
            let id = "<UploadId>\(uploadsBegun)</UploadId>"
            return Answer(200, [], Array("<InitiateMultipartUploadResult>\(id)</InitiateMultipartUploadResult>".utf8))
        }
        guard let id = values["uploadId"] else { return nil }
        guard let begun = content.uploads[id], begun.path == path else { return said(404, "NoSuchUpload") }
        guard
            request.body.isEmpty || request.headers["x-amz-content-sha256"] == ContentDigest(hashing: request.body).hex
        else {
            return said(400, "XAmzContentSHA256Mismatch")
        }
        switch (request.method, values["partNumber"].flatMap(Int.init)) {
        case ("PUT", let number?):
            content.uploads[id]?.parts[number] = request.body
            return Answer(200, ["ETag: \(Self.tag(request.body))"])
        case ("DELETE", nil):
            content.uploads[id] = nil
            return Answer(204)
        default:
            content.uploads[id] = nil
            let parts = begun.parts.sorted { $0.key < $1.key }
            let wanted = parts.map { number, bytes in
                let tag = Self.tag(bytes).replacing("\"", with: "&quot;")
                return "<Part><PartNumber>\(number)</PartNumber><ETag>\(tag)</ETag></Part>"
            }
            guard String(decoding: request.body, as: UTF8.self).contains(wanted.joined()), !wanted.isEmpty else {
                return said(400, "InvalidPart")
            }
            return put(parts.flatMap(\.value), begun.headers, at: path)
        }
    }

    private mutating func putObject(_ request: HTTPServer.Request, at path: String) -> Answer {
        if request.body.count > StorageServer.sizes.whole { flaws.append("a large object in one piece") }
        return put(request.body, request.headers, at: path)
    }

    private mutating func put(_ body: [UInt8], _ headers: [String: String], at path: String) -> Answer {
        if path != "objects/\(ContentDigest(hashing: body).hex)" {
            flaws.append("an object under another name")
        }
        if headers["cache-control"] != "public, max-age=31536000, immutable" {
            flaws.append("an object that is not kept for ever")
        }
        content.objects[path] = body
        return Answer(200, ["ETag: \(Self.tag(body))"])
    }

    /// Whether the condition of a request does not hold.
    private static func isInVain(_ request: HTTPServer.Request, over found: [UInt8]?) -> Bool {
        if request.headers["if-none-match"] == "*", found != nil { return true }
        return request.headers["if-match"].map { $0 != found.map(tag) } ?? false
    }

    private mutating func putHead(_ request: HTTPServer.Request) -> Answer {
        if request.headers["if-match"] == nil, request.headers["if-none-match"] == nil {
            flaws.append("a head without a condition")
        }
        if request.headers["cache-control"] != "max-age=0,s-maxage=5,stale-while-revalidate=5" {
            flaws.append("a head that caches may keep for another time than it was said")
        }
        if let flaw = flaw(of: request.body) { flaws.append(flaw) }
        content.heads.append(request.body)
        return Answer(200, ["ETag: \(Self.tag(request.body))"])
    }

    /// Whatever a head names is there before it is.
    private func flaw(of head: [UInt8]) -> String? {
        guard let file = try? HeadFile(decoding: head), let head = try? file.head() else {
            return "a head that is none"
        }
        guard content.objects["objects/\(file.publisher.hex)"] != nil else { return "a head without its certificate" }
        for store in head.stores {
            guard let object = store.catalog, let bytes = content.objects["objects/\(object.sha256.hex)"],
                let catalog = try? StoreCatalog(decoding: bytes)
            else { return "a head without its catalog" }
            let named =
                catalog.all.compactMap(\.sha256)
                + [catalog.bundle?.sha256, catalog.landmark?.object.sha256].compactMap(\.self)
            guard named.allSatisfy({ content.objects["objects/\($0.hex)"] != nil }) else {
                return "a head without its objects"
            }
        }
        return nil
    }

    private func get(_ found: [UInt8]?, _ request: HTTPServer.Request) -> Answer {
        guard let found else { return Answer(404, [], Array("<Error><Code>NoSuchKey</Code></Error>".utf8)) }
        let tag = Self.tag(found)
        if request.headers["if-none-match"] == tag { return Answer(304, ["ETag: \(tag)"]) }
        guard let range = request.headers["range"], rangesAreBroken != .cutWithoutRanges else {
            return Answer(200, ["ETag: \(tag)"], found)
        }
        let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
        guard start < found.count else { return Answer(416) }
        return Answer(
            rangesAreBroken == .cutWithRangeAsWhole ? 200 : 206,
            ["ETag: \(tag)", "Content-Range: bytes \(start)-\(found.count - 1)/\(found.count)"], Array(found[start...]))
    }

    private static func tag(_ bytes: [UInt8]) -> String { "\"\(ContentDigest(hashing: bytes).hex.prefix(32))\"" }
}
