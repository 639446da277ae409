import EssentialFoundation
import ShipProtocol
import ShipStore
import Synchronization
import TestSupport
import Testing

@testable import ShipStoreNetwork

/// What lies in storage, as it lists that: in pages, by its own clock.
@Suite struct StorageListTests {
    private typealias Answer = HTTPServer.Answer

    private static let names = (0..<4).map { ContentDigest(hashing: [UInt8($0)]) }

    private static func page(_ content: String, next: String?) -> [UInt8] {
        Array("<List><IsTruncated>\(next != nil)</IsTruncated>\(next ?? "")\(content)</List>".utf8)
    }

    private static func object(_ name: ContentDigest, _ time: String = "2026-11-20T19:04:05.000Z") -> String {
        "<Contents><Key>kitchen/objects/\(name.hex)</Key><LastModified>\(time)</LastModified></Contents>"
    }

    @Test func `all pages are read, and a list without end is given up`() async throws {
        let isEndless = Atomic(false)
        let server = try HTTPServer { request in
            let isSecond = request.target.contains("continuation-token=more")
            let next = isSecond && !isEndless.load(ordering: .relaxed) ? nil : "more"
            let token = next.map { "<NextContinuationToken>\($0)</NextContinuationToken>" }
            return Answer(200, [], Self.page(Self.object(Self.names[isSecond ? 1 : 0]), next: token))
        }
        let (storage, place) = try StorageServer.publication(onPort: server.port)
        #expect(try await storage.objects().map(\.name) == Array(Self.names.prefix(2)))
        isEndless.store(true, ordering: .relaxed)
        await #expect(throws: PublicationError.badAnswer(place)) { _ = try await storage.objects() }
    }

    @Test func `uploads are given up that are on a later page`() async throws {
        let aborted = Mutex<[String]>([])
        let server = try HTTPServer { request in
            if request.method == "DELETE" {
                aborted.withLock { $0.append(String(request.target.suffix(1))) }
                return Answer(204)
            }
            let number = request.target.contains("upload-id-marker=0") ? 1 : 0
            let upload = """
                <Upload><Key>kitchen/objects/\(Self.names[number].hex)</Key><UploadId>\(number)</UploadId>\
                <Initiated>2020-11-20T19:04:05.000Z</Initiated></Upload>
                """
            let next = "<NextKeyMarker>kitchen</NextKeyMarker><NextUploadIdMarker>0</NextUploadIdMarker>"
            return Answer(200, [], Self.page(upload, next: number == 0 ? next : nil))
        }
        let (storage, _) = try StorageServer.publication(onPort: server.port)
        try await storage.abandonUploads(begunBefore: Timestamp(Date()))
        #expect(aborted.withLock(\.self) == ["0", "1"])
    }

    @Test func `times are those of this clock, and what was written again since is not removed`() async throws {
        // The storage's clock is a day ahead.
        let removed = Mutex<[String]>([])
        let server = try HTTPServer { request in
            let date = "Date: Sat, 21 Nov 2026 20:04:05 GMT"
            switch request.method {
            case "DELETE":
                removed.withLock { $0.append(String(request.target.suffix(64))) }
                return Answer(204)
            case "HEAD":
                let isNew = request.target.hasSuffix(Self.names[1].hex)
                return Answer(200, [date, "Last-Modified: Sat, 21 Nov 2026 \(isNew ? 20 : 19):04:05 GMT"])
            default:
                return Answer(200, [date], Self.page(Self.object(Self.names[0], "2026-11-21T19:04:05Z"), next: nil))
            }
        }
        let (storage, _) = try StorageServer.publication(onPort: server.port)
        let written = try #require(try await storage.objects().first?.written)
        #expect(abs(Date().timeIntervalSince(written.date) - 3600) < 60)
        let time = Timestamp(Date().addingTimeInterval(-600))
        #expect(try await storage.remove(Self.names[0], writtenBefore: time))
        #expect(try await !storage.remove(Self.names[1], writtenBefore: time))
        #expect(removed.withLock(\.self) == [Self.names[0].hex])
    }
}
