import NIOPosix
import StoreFiles

/// What can only be read by waiting for it: a file, a device. epoll(7) watches neither.
final class BlockingSource: LinkSource {
    private let file: OpenFile

    init(_ file: consuming OpenFile) {
        self.file = file
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        guard !Task.isCancelled else { throw .cancelled }
        return try await LinkThreads.whileBlocking { [self] () throws(FileError) in
            try file.readNext(LinkReader.pieceSize)
        }
    }
}

/// What can only be written to by waiting for it: a file that somebody else opened, a device.
final class BlockingSink: LinkSink {
    private let file: OpenFile

    init(_ file: consuming OpenFile) {
        self.file = file
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        guard !Task.isCancelled else { throw .cancelled }
        try await LinkThreads.whileBlocking { [self] () throws(FileError) in try file.write(bytes) }
    }

    func finish() async throws(LinkError) {}
}
