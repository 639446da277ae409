import ShipCompression
import ShipProtocol
import ShipStore
import StoreEncoding
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct GrowingStoreTests {
    private struct NoRoom: Error {}

    @Test func `a delta of few bytes makes no more of a store than there is room for`() async throws {
        let scratch = try ScratchFolder()
        let (base, new) = (scratch.path.appending("base"), scratch.path.appending("new"))
        try TestStore.make(at: base, sql: "CREATE TABLE t(b); INSERT INTO t VALUES (randomblob(9000000))")
        try OpenFile.copy(base, to: new)
        let file = try FileDescriptor.open(new, .readWrite)
        try file.writeAll(toAbsoluteOffset: 1_000_000, [1, 2, 3])
        try file.close()
        let (size, digest) = (try OpenFile.reading(new).size, ContentDigest(hashing: []))
        let facts = StoreFacts(
            size: size, sha256: digest, pageSize: 4096, pageCount: size / 4096, textEncoding: .utf8, applicationID: 0,
            userVersion: 0, schemaSHA256: digest)
        let store = StoreToEncode(
            path: new, facts: facts, shapes: nil, settings: CompressionSettings(.fastest), selfCheck: false, cores: 1,
            isAwaited: false)
        var segments: [[UInt8]] = []
        try await FileCodec().encode(store, over: base, limit: size) { segments.append($0.bytes) }
        #expect(segments.joined().count < 65_536)
        let room: Int64 = 5_000_000
        let decoder = try FileCodec().makeDecoder(
            StoreToDecode(
                path: scratch.path.appending("made"), facts: facts, growing: { if $0 > room { throw NoRoom() } }),
            over: base)
        #expect(throws: NoRoom.self) { for segment in segments { try decoder.append(segment) } }
        #expect(decoder.bytesDone > room && decoder.bytesDone < size)
    }
}
