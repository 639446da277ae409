import ShipProtocol
import ShipTransport
import StoreFiles
import SystemPackage
import Testing

@Suite struct `The standard streams as a link` {
    /// A pipe whose ends stand for them, each closed by its owner, and only once.
    private func pipe() throws -> (read: FileDescriptor, write: FileDescriptor) { try PlatformCalls.pipe() }

    @Test func `carry a shipment through a pipe, and leave its flags as they were`() async throws {
        let (read, write) = try pipe()
        let (answerRead, answerWrite) = try pipe()
        let sending = linkOptions { $0.standardOutput = write }
        let receiving = linkOptions {
            $0.standardInput = read
            $0.standardOutput = answerWrite
        }
        async let bytes = PeerLink.withLink(from: .standardStreams, receiving) { link throws in
            #expect(link.direction == .twoWay)
            #expect(PlatformCalls.statusFlags(of: read).map { PlatformCalls.nonBlocking($0) == $0 } == true)
            try await link.writer.write([5], within: patience)
            let reader = link.reader
            var bytes: [UInt8] = []
            while bytes.count < 700_000, let piece = try await reader.next(within: patience) { bytes += piece }
            return bytes
        }
        try await PeerLink.withLink(to: .standardStreams, sending) { link throws in
            #expect(link.direction == .oneWay)
            try await link.writer.write(pattern(700_000), within: patience)
            let reader = link.reader
            #expect(try await reader.next(within: patience) == nil)
        }
        #expect(try await bytes == pattern(700_000))
        for end in [read, write, answerRead, answerWrite] {
            #expect(PlatformCalls.statusFlags(of: end).map { PlatformCalls.nonBlocking($0) == $0 } == false)
        }
        try answerWrite.close()
        let answer = OpenFile.owning(answerRead, as: "answer")
        #expect(try answer.readNext(10) == [5])
        #expect(try answer.readNext(10) == nil)
        try read.close()
        try write.close()
    }

    @Test func `end when the writer of the pipe does`() async throws {
        let (read, write) = try pipe()
        try write.writeAll([1, 2, 3])
        try write.close()
        try await PeerLink.withLink(from: .standardStreams, linkOptions { $0.standardInput = read }) { link throws in
            let reader = link.reader
            #expect(try await reader.all() == [1, 2, 3])
        }
        try read.close()
    }

    @Test func `say so, and do not end the process, when nobody reads any more`() async {
        await #expect(processExitsWith: .success) {
            let (read, write) = try PlatformCalls.pipe()
            try read.close()
            let options = linkOptions { $0.standardOutput = write }
            await #expect(throws: LinkError.closedByPeer) {
                try await PeerLink.withLink(to: .standardStreams, options) { link throws in
                    try await link.writer.write([1], within: patience)
                }
            }
        }
    }

    @Test func `time out when a pipe is full or empty`() async throws {
        let (read, write) = try pipe()
        let options = linkOptions {
            $0.standardInput = read
            $0.standardOutput = write
            $0.lingerTime = .milliseconds(20)
        }
        await #expect(throws: LinkError.timedOut(.reading)) {
            try await PeerLink.withLink(from: .standardStreams, options) { link throws in
                let reader = link.reader
                _ = try await reader.next(within: .milliseconds(30))
            }
        }
        await #expect(throws: LinkError.timedOut(.writing)) {
            try await PeerLink.withLink(to: .standardStreams, options) { link throws in
                try await link.writer.write(pattern(3_000_000), within: .milliseconds(50))
            }
        }
        try read.close()
        try write.close()
    }

    @Test func `may be files and /dev/null`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("a")
        let file = try OpenFile.creating(path)
        let options = linkOptions { $0.standardOutput = file.descriptor }
        try await PeerLink.withLink(to: .standardStreams, options) { link throws in
            try await link.writer.write(pattern(300_000), within: patience)
        }
        let written = try OpenFile.reading(path)
        let null = try FileDescriptor.open("/dev/null", .readWrite)
        let reading = linkOptions {
            $0.standardInput = written.descriptor
            $0.standardOutput = null
        }
        let bytes = try await PeerLink.withLink(from: .standardStreams, reading) { link throws in
            // Nobody reads an answer from a file.
            #expect(link.direction == .oneWay)
            let reader = link.reader
            return try await reader.all()
        }
        #expect(bytes == pattern(300_000))
        let nowhere = linkOptions {
            $0.standardInput = null
            $0.standardOutput = null
        }
        try await PeerLink.withLink(to: .standardStreams, nowhere) { link throws in
            try await link.writer.write(pattern(300_000), within: patience)
        }
        try await PeerLink.withLink(from: .standardStreams, nowhere) { link throws in
            let reader = link.reader
            #expect(try await reader.all().isEmpty)
        }
        try null.close()
    }

    @Test func `may not be a terminal`() async throws {
        let terminal = try FileDescriptor.open("/dev/ptmx", .readWrite, options: .closeOnExec)
        let options = linkOptions {
            $0.standardInput = terminal
            $0.standardOutput = terminal
        }
        await #expect(throws: LinkError.isATerminal(.writing)) {
            try await PeerLink.withLink(to: .standardStreams, options) { _ in }
        }
        await #expect(throws: LinkError.isATerminal(.reading)) {
            try await PeerLink.withLink(from: .standardStreams, options) { _ in }
        }
        try terminal.close()
    }
}
