import EssentialFoundation
import ShipLinks
import ShipProtocol
import ShipStore
import ShipTransport
import Synchronization
import TestSupport
import Testing

@testable import ShipStoreNetwork

/// What is asked again in another way, because the storage has said how: each once.
@Suite struct StorageClientTests {
    private typealias Answer = HTTPServer.Answer

    /// Storage without a head, and what it was asked.
    private struct Storage {
        let server: HTTPServer
        let publication: BucketPublication
        let place: Endpoint
        private let log: Log
        private final class Log: Sendable {
            let all = Mutex<[HTTPServer.Request]>([])
            /// How often settings were read.
            let readings = Atomic(0)
        }

        /// - Parameters:
        ///   - keys: Names of keys, one for each time that they are asked for; the last one from then on.
        ///   - answer: `nil` for what the storage would say.
        init(keys: [String] = ["KEY"], _ answer: @escaping @Sendable (HTTPServer.Request) -> Answer?) throws {
            let log = Log()
            self.log = log
            server = try HTTPServer { request in
                log.all.withLock { $0.append(request) }
                return answer(request) ?? Answer(404, [], Array("<Error><Code>NoSuchKey</Code></Error>".utf8))
            }
            place = try Endpoint("s3://bucket/kitchen")
            guard case .bucket(let address) = place,
                case .web(let endpoint) = try Endpoint("http://127.0.0.1:\(server.port)")
            else { throw PublicationError.cannotPublish(place) }
            var options = StorageOptions()
            options.endpoint = endpoint
            publication = try BucketPublication(
                at: address, options, Timeouts(), trusting: nil, Retries(pause: .microseconds(10))
            ) {
                // The first reading is for the server and the region.
                let number = log.readings.wrappingAdd(1, ordering: .relaxed).newValue - 2
                let key = keys[min(max(0, number), keys.count - 1)]
                return StorageSettings(["AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": "SECRET"])
            }
        }

        var requests: [HTTPServer.Request] { log.all.withLock(\.self) }

        func look() async throws {
            guard case .none = try await publication.head(unlike: nil, fresh: true) else {
                Issue.record("there is a head")
                return
            }
        }
    }

    private static func error(_ code: String, _ more: String = "") -> [UInt8] {
        Array("<Error><Code>\(code)</Code>\(more)</Error>".utf8)
    }

    @Test(arguments: [301, 400])
    func `the region that the storage names is signed for, and remembered`(status: Int) async throws {
        let storage = try Storage { request in
            if request.headers["authorization"]?.contains("/eu-north-1/s3/") == true { return nil }
            // Where it would be sent on, it is not followed.
            return status == 301
                ? Answer(301, ["x-amz-bucket-region: eu-north-1", "Location: http://127.0.0.1:1/"])
                : Answer(400, [], Self.error("AuthorizationHeaderMalformed", "<Region>eu-north-1</Region>"))
        }
        try await storage.look()
        #expect(storage.requests.count == 2)
        try await storage.look()
        #expect(storage.requests.count == 3)
    }

    @Test func `a region that changes each time is not followed for ever`() async throws {
        let number = Atomic(0)
        let storage = try Storage { _ in
            let region = number.wrappingAdd(1, ordering: .relaxed).newValue
            return Answer(301, ["x-amz-bucket-region: eu-north-\(region)"])
        }
        await #expect(throws: PublicationError.storage(storage.place, 301, "301")) { try await storage.look() }
        #expect(storage.requests.count == 2)
    }

    @Test func `a clock that is wrong is made up for by the storage's`() async throws {
        let storage = try Storage { request in
            if request.headers["x-amz-date"]?.hasPrefix("20200101T0") == true { return nil }
            return Answer(403, ["Date: Wed, 01 Jan 2020 00:00:00 GMT"], Self.error("RequestTimeTooSkewed"))
        }
        try await storage.look()
        #expect(storage.requests.count == 2)
        try await storage.look()
        #expect(storage.requests.count == 3)
    }

    /// Those that have expired may be asked for under the same name.
    @Test(arguments: [(400, "ExpiredToken", 2), (403, "InvalidAccessKeyId", 1)])
    func `keys that are not taken any more are read anew, once`(status: Int, code: String, requests: Int) async throws {
        let storage = try Storage(keys: ["OLD", "NEW"]) { request in
            request.headers["authorization"]?.contains("Credential=NEW/") == true
                ? nil : Answer(status, [], Self.error(code))
        }
        try await storage.look()
        #expect(storage.requests.count == 2)
        let lasting = try Storage { _ in Answer(status, [], Self.error(code)) }
        await #expect(throws: PublicationError.storage(lasting.place, status, ForeignText(code))) {
            try await lasting.look()
        }
        #expect(lasting.requests.count == requests)
    }

    @Test func `a head is asked for past caches only where one has shown an older one`() async throws {
        let asked = Mutex<[String?]>([])
        let server = try HTTPServer { request in
            asked.withLock { $0.append(request.headers["cache-control"]) }
            return Answer(404)
        }
        guard case .web(let address) = try Endpoint("http://127.0.0.1:\(server.port)/kitchen") else { return }
        let publication = WebPublication(at: address, Timeouts(), trusting: nil)
        for isFresh in [false, true] { _ = try await publication.head(unlike: nil, fresh: isFresh) }
        #expect(asked.withLock(\.self) == [nil, "no-cache"])
    }
}
