import EssentialFoundation
import ShipProtocol
import ShipStore
import ShipTransport
import StoreFiles
import Synchronization
import SystemPackage

/// Sends signed requests to one bucket of S3-compatible storage, and again what may succeed then.
final class StorageClient: Sendable {
    private let address: BucketAddress
    private let web: WebClient
    /// Reads the settings of the variables and files as they are now.
    private let settings: @Sendable () -> StorageSettings
    private let endpoint: WebAddress?
    private let timeouts: Timeouts
    private let state: Mutex<State>

    private struct State {
        var region: String
        /// By how much the storage's clock is ahead of this one, in seconds.
        var skew: TimeInterval = 0
        var credentials: StorageCredentials?
    }

    struct Request {
        let method: String
        /// Below the prefix; `nil` for the bucket.
        let name: String?
        var query: [(String, String)] = []
        var headers: [(String, String)] = []
        /// Where what is asked for begins.
        var offset: Int64 = 0
        var body = WebClient.Body.none
        /// The digest of the body.
        var payload: ContentDigest?
        /// About the bytes that go or come.
        var size: Int64 = 0
    }

    /// Longest answer that is kept as text, in bytes: a list of a thousand keys has less.
    private static let longestText = 4 * 1024 * 1024

    init(
        of address: BucketAddress, _ options: StorageOptions, _ timeouts: Timeouts, trusting authorities: FilePath?,
        _ retries: Retries, _ readSettings: @escaping @Sendable () -> StorageSettings
    ) throws(PublicationError) {
        (self.address, self.timeouts) = (address, timeouts)
        self.settings = readSettings
        let settings = readSettings()
        if let endpoint = options.endpoint {
            self.endpoint = endpoint
        } else if let text = settings.endpoint {
            guard case .web(let endpoint)? = try? Endpoint(text) else { throw .badStorage(ForeignText(text)) }
            self.endpoint = endpoint
        } else {
            endpoint = nil
        }
        state = Mutex(State(region: settings.region ?? "us-east-1"))
        web = WebClient(
            connectTimeout: timeouts.connect, idle: timeouts.idle, trusting: authorities ?? settings.authorities,
            retries)
    }

    /// Sends a request, until it is answered with one of these statuses.
    ///
    /// - Parameters:
    ///   - statuses: What is no error.
    ///   - begin: Called with a response whose content is taken.
    ///   - take: Takes the content of a status below 300; returns whether to go on.
    ///   - resume: As in `WebClient.send`.
    /// - Throws: `.storage`, `LinkError`, and what `begin` and `take` throw.
    func send(
        _ request: Request, accepting statuses: Set<Int>,
        beginning begin: (WebClient.Response) throws -> Void = { _ in },
        taking take: ([UInt8]) throws -> Bool, resuming resume: (inout WebClient.Request) -> Bool
    ) async throws -> StorageAnswer {
        var (hasMoved, hasSetClock, hasNewKeys, wasTooSlow) = (false, false, false, false)
        while true {
            let answer = try await answer(to: request, begin, take, resume)
            if statuses.contains(answer.status) { return answer }
            if !hasMoved, let region = answer.region, region != state.withLock(\.region) {
                hasMoved = true
                state.withLock { $0.region = region }
            } else if !hasSetClock, answer.code == "RequestTimeTooSkewed", let date = answer.response.date {
                hasSetClock = true
                state.withLock { $0.skew = date.timeIntervalSince(Date()) }
            } else if !hasNewKeys, try await hasOtherKeys(after: answer) {
                hasNewKeys = true
            } else if !wasTooSlow, answer.code == "RequestTimeout" {
                // The storage has waited too long for the content, and says so with a status that is for good otherwise.
                wasTooSlow = true
            } else {
                throw error(answer)
            }
        }
    }

    /// Whether there may be other keys by now than those that the storage did not take: they are read again.
    private func hasOtherKeys(after answer: StorageAnswer) async throws -> Bool {
        let haveExpired = answer.code == "ExpiredToken"
        guard haveExpired || [401, 403].contains(answer.status) else { return false }
        let credentials = try await settings().credentials()
        return state.withLock { state in
            defer { state.credentials = credentials }
            return haveExpired || state.credentials != credentials
        }
    }

    /// The same; the content is kept.
    func send(_ request: Request, accepting statuses: Set<Int>) async throws -> StorageAnswer {
        var bytes: [UInt8] = []
        let answer = try await send(
            request, accepting: statuses, beginning: { _ in bytes = [] },
            taking: { piece in
                bytes += piece
                guard bytes.count <= Self.longestText else { throw PublicationError.badAnswer(.bucket(address)) }
                return true
            }, resuming: { _ in true })
        return bytes.isEmpty
            ? answer : StorageAnswer(response: answer.response, text: String(decoding: bytes, as: UTF8.self))
    }

    /// Where the server is, as far as that is said; nothing for AWS.
    var origin: String { endpoint.map { "\(Endpoint.web($0))" } ?? "" }

    func error(_ answer: StorageAnswer) -> PublicationError {
        .storage(.bucket(address), answer.status, ForeignText(answer.code))
    }

    private func answer(
        to request: Request, _ begin: (WebClient.Response) throws -> Void, _ take: ([UInt8]) throws -> Bool,
        _ resume: (inout WebClient.Request) -> Bool
    ) async throws -> StorageAnswer {
        var credentials = state.withLock(\.credentials)
        if credentials == nil {
            // The files may have newer ones by now.
            credentials = try await settings().credentials()
            state.withLock { [credentials] in $0.credentials = credentials }
        }
        guard let credentials else { throw PublicationError.noCredentials }
        let (region, skew) = state.withLock { ($0.region, $0.skew) }
        let (server, bucketPath) = try place(in: region)
        let path = bucketPath + (request.name.map { "/" + address.key($0) } ?? (bucketPath.isEmpty ? "/" : ""))
        let query = request.query.map { (String(percentEncoding: $0.utf8), String(percentEncoding: $1.utf8)) }
        let signed = RequestSignature.headers(
            request.method, host: server.authority, path: path, query: query, payload: request.payload, region: region,
            credentials, at: Timestamp(Date().addingTimeInterval(skew)))
        let text = query.sorted { $0.0 < $1.0 }.map { "\($0)=\($1)" }.joined(separator: "&")
        var (found, bytes): (WebClient.Response?, [UInt8]) = (nil, [])
        var signedRequest = WebClient.Request(
            request.method, WebTarget(at: server, path: path, query: text), signed + request.headers,
            body: request.body, isRedirectable: false)
        signedRequest.begin(at: request.offset)
        try await web.send(
            signedRequest, within: timeouts.longest(for: request.size),
            taking: { response in
                (found, bytes) = (response, [])
                if response.status < 300 { try begin(response) }
                return true
            },
            { piece in
                if let found, found.status < 300 { return try take(piece) }
                bytes += piece
                guard bytes.count <= Self.longestText else { throw PublicationError.badAnswer(.bucket(address)) }
                return true
            },
            resuming: { request in (found?.status ?? 0) >= 300 || resume(&request) })
        guard let found else { throw LinkError.closedByPeer }
        return StorageAnswer(response: found, text: String(decoding: bytes, as: UTF8.self))
    }

    /// The server, and the path of the bucket there: its name stands before that of AWS's server, and in the path of any other.
    private func place(in region: String) throws -> (WebAddress, String) {
        if let endpoint { return (endpoint, "\(endpoint.path)/\(address.bucket)") }
        let host = "s3.\(region).amazonaws.com"
        // A certificate is for one label before that.
        let isPlain = !address.bucket.contains(".")
        guard case .web(let server)? = try? Endpoint(isPlain ? "https://\(address.bucket).\(host)" : "https://\(host)")
        else { throw PublicationError.badStorage(ForeignText(region)) }
        return (server, isPlain ? "" : "/\(address.bucket)")
    }
}
