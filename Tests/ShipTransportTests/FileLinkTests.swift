import ShipProtocol
import ShipTransport
import StoreFiles
import SystemPackage
import Testing

@Suite struct `A file as a link` {
    private struct Interruption: Error {}

    @Test func `is written whole, for its owner only, and read back`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("a.shipment")
        let bytes = pattern(1_000_000)
        try await PeerLink.withLink(to: .file(path)) { link throws in
            #expect(link.direction == .oneWay)
            try await link.writer.write(bytes, within: patience)
            try await link.writer.write([1], within: patience)
            let reader = link.reader
            #expect(try await reader.next(within: patience) == nil)
        }
        #expect(try PlatformCalls.status(of: path).permissions == .ownerReadWrite)
        #expect(try Folder.names(in: folder.path) == ["a.shipment"])
        let back = try await PeerLink.withLink(from: .file(path)) { link throws in
            #expect(link.direction == .oneWay)
            await #expect(throws: LinkError.oneWay) { try await link.writer.write([1], within: patience) }
            let reader = link.reader
            return try await reader.all()
        }
        #expect(back == bytes + [1])
    }

    @Test func `is not there before it is finished, and leaves the one before in place until then`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("a.shipment")
        // Another file would have to be replaced on the user's word.
        try OpenFile.creating(path).write([0x89, 0x53, 0x48, 0x49, 0x50, 0x0D, 0x0A, 0x1A])
        try await PeerLink.withLink(to: .file(path)) { link throws in
            try await link.writer.write([2, 2], within: patience)
            #expect(try OpenFile.reading(path).size == 8)
            try await link.writer.finish()
            #expect(try OpenFile.reading(path).size == 2)
        }
        #expect(try OpenFile.reading(path).read(9, at: 0) == [2, 2])
    }

    @Test func `leaves nothing behind when sending fails`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("a.shipment")
        await #expect(throws: Interruption.self) {
            try await PeerLink.withLink(to: .file(path)) { link throws in
                try await link.writer.write([1], within: patience)
                throw Interruption()
            }
        }
        #expect(try Folder.names(in: folder.path).isEmpty)
    }

    @Test func `that cannot be opened says why`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        await #expect(throws: LinkError.file(FileError(.write, path, .isDirectory))) {
            try await PeerLink.withLink(to: .file(path)) { _ in }
        }
        await #expect(throws: LinkError.file(FileError(.open, path, .isDirectory))) {
            try await PeerLink.withLink(from: .file(path)) { _ in }
        }
        let missing = path.appending("no/such")
        let error = await #expect(throws: LinkError.self) {
            try await PeerLink.withLink(to: .file(missing)) { _ in }
        }
        guard case .file(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.errno == .noSuchFileOrDirectory)
        await #expect(throws: LinkError.file(FileError(.open, missing, .noSuchFileOrDirectory))) {
            try await PeerLink.withLink(from: .file(missing)) { _ in }
        }
    }

    @Test func `may be /dev/null, but not a full device`() async throws {
        try await PeerLink.withLink(to: .file("/dev/null")) { link throws in
            try await link.writer.write(pattern(1_000_000), within: patience)
        }
        #expect(try PlatformCalls.status(of: FilePath("/dev/null")).kind == .characterDevice)
        let bytes = try await PeerLink.withLink(from: .file("/dev/null")) { link throws in
            let reader = link.reader
            return try await reader.all()
        }
        #expect(bytes.isEmpty)
        await #expect(throws: LinkError.file(FileError(.write, "/dev/full", .noSpace))) {
            try await PeerLink.withLink(to: .file("/dev/full")) { link throws in
                try await link.writer.write([1], within: patience)
            }
        }
    }

    @Test func `may be a named pipe`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("pipe")
        try await PeerLink.withLink(to: .command("mkfifo '\(path)'")) { link throws in
            let reader = link.reader
            let word = try await reader.next(within: patience)
            #expect(word == nil)
        }
        async let sent: Void = PeerLink.withLink(to: .file(path)) { link throws in
            try await link.writer.write(pattern(500_000), within: patience)
        }
        let bytes = try await PeerLink.withLink(from: .file(path)) { link throws in
            let reader = link.reader
            return try await reader.all()
        }
        try await sent
        #expect(bytes == pattern(500_000))
        // The reader's thread may close the pipe a moment after its call has returned.
        func hasReader() -> Bool {
            let writer = try? FileDescriptor.open(path, .writeOnly, options: .nonBlocking)
            try? writer?.close()
            return writer != nil
        }
        while hasReader() { try await Task.sleep(for: .milliseconds(1)) }
        let options = linkOptions { $0.connectTimeout = .milliseconds(50) }
        await #expect(throws: LinkError.timedOutConnecting(.file(path))) {
            try await PeerLink.withLink(to: .file(path), options) { _ in }
        }
        // Lets the call that still waits for a reader end.
        let reader = try FileDescriptor.open(path, .readOnly, options: .nonBlocking)
        try await Task.sleep(for: .milliseconds(20))
        try reader.close()
    }
}
