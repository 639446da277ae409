import Dispatch
import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Links to a path in the file system: from the file that is there, and to a file that appears under its name when it is complete.
///
/// Anything at the path counts as a file, a named pipe too: the user has named a place where something is kept, not a peer. Others may
/// have written to it since.
extension PeerLink {
    /// Whether a shipment written to the path becomes a file there; `false` for a named pipe or a device, which is written to as it is.
    ///
    /// - Throws: `.file` for a folder.
    package static func isFile(at path: FilePath) throws(LinkError) -> Bool {
        switch try? PlatformCalls.statusFollowingLinks(of: path).kind {
        case .folder: throw .file(FileError(.write, path, .isDirectory))
        case nil, .file, .symbolicLink: true
        case .pipe, .socket, .characterDevice, .other: false
        }
    }

    /// A link into a file that appears under its name when `body` is done, synced; never if `body` throws.
    ///
    /// - Throws: `.inTheWay`, `.file`, and what `body` throws.
    package nonisolated(nonsending) static func withLink<Result>(
        toFile path: FilePath, over overwriting: Overwriting,
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        guard try isFile(at: path) else { throw LinkError.inTheWay(path) }
        let file = try ShipmentFile(path, over: overwriting)
        do {
            let result = try await body(
                PeerLink(
                    direction: .oneWay, isFile: true, reader: ClosedSide(), writer: file, peer: .at(.file(path))))
            try await file.finish()
            return result
        } catch {
            file.abandon()
            throw error
        }
    }

    /// A link from the file at a path.
    ///
    /// - Parameter limit: How long to wait until another process opens the other end of a named pipe.
    /// - Throws: `.timedOutConnecting`, `.isATerminal`, `.file`, and what `body` throws.
    package nonisolated(nonsending) static func withLink<Result>(
        fromFile path: FilePath, within limit: Duration,
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        let file = try await OpenFile.waiting(for: path, .readOnly, within: limit)
        guard !PlatformCalls.isTerminal(file.descriptor) else { throw LinkError.isATerminal(.reading) }
        let kind = try LinkError.wrapping { () throws(FileError) in
            try PlatformCalls.status(of: file.descriptor, path).kind
        }
        switch kind {
        case .folder: throw LinkError.file(FileError(.open, path, .isDirectory))
        case .file, .symbolicLink: break
        case .pipe, .socket, .characterDevice, .other:
            // This process opened it, so no other process shares its flags.
            let flags = PlatformCalls.statusFlags(of: file.descriptor) ?? 0
            PlatformCalls.setStatusFlags(PlatformCalls.nonBlocking(flags), of: file.descriptor)
        }
        return try await body(
            PeerLink(
                direction: .oneWay, isFile: true, reader: FileStream(file), writer: ClosedSide(),
                peer: .at(.file(path))))
    }
}

extension OpenFile {
    /// Opens a path. For a named pipe, this waits until another process opens its other end.
    ///
    /// - Throws: `.timedOutConnecting`, `.file`.
    package static func waiting(
        for path: FilePath, _ mode: FileDescriptor.AccessMode, within limit: Duration
    ) async throws(LinkError) -> OpenFile {
        let timeout = LinkError.timedOutConnecting(.file(path))
        let descriptor = try await AwaitedAnswer<FileDescriptor>.wait(within: limit, or: timeout) { answer in
            // open(2) cannot be interrupted: after a timeout its thread goes on for a while.
            DispatchQueue.forOneLink().async {
                do {
                    let descriptor = try FileDescriptor.open(path, mode, options: .closeOnExec)
                    if !answer.give(.success(descriptor)) { try? descriptor.close() }
                } catch {
                    answer.give(.failure(.file(FileError(.open, path, error as? Errno ?? .ioError))))
                }
            }
        }
        return OpenFile.owning(descriptor, as: path)
    }
}

/// Reads or writes an open file, device or pipe with blocking calls. Only the reader of a device or a pipe can time out.
package final class FileStream: LinkReader, LinkWriter {
    private let file: OpenFile
    private let queue = DispatchQueue.forOneLink()

    /// How long one poll(2) waits, before the reader looks at its deadline and for cancellation.
    private static let slice = Duration.milliseconds(100)

    package init(_ file: consuming OpenFile) {
        self.file = file
    }

    package func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        let deadline = ContinuousClock.now + limit
        while true {
            guard !Task.isCancelled else { throw .cancelled }
            do throws(LinkError) {
                return try await queue.run { [self] () throws(FileError) in try file.readNext(PeerLink.pieceSize) }
            } catch .file(let error) where error.errno == .wouldBlock {
                try await queue.run { [self] () throws(FileError) in
                    PlatformCalls.waitForInput(from: [file.descriptor], atMost: Self.slice)
                }
                guard .now < deadline else { throw .timedOut(.reading) }
            }
        }
    }

    package func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        guard !Task.isCancelled else { throw .cancelled }
        try await queue.run { [self] () throws(FileError) in try file.write(bytes) }
    }

    package func finish() async throws(LinkError) {}
}

private final class ShipmentFile: LinkWriter {
    private let path: FilePath
    private let file: ResultFile
    private let queue = DispatchQueue.forOneLink()

    /// - Throws: `.inTheWay`, `.file`.
    init(_ path: FilePath, over overwriting: Overwriting) throws(LinkError) {
        self.path = path
        try overwriting.check(path)
        file = try LinkError.wrapping { () throws(FileError) in try ResultFile(path, replacing: overwriting.kind) }
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        try await queue.run { [self] () throws(FileError) in try file.write(bytes) }
    }

    func finish() async throws(LinkError) {
        let isInPlace = try await queue.run { [self] () throws(FileError) in try file.finish() }
        guard isInPlace else { throw .inTheWay(path) }
    }

    func abandon() { file.abandon() }
}

/// Which file a shipment may replace.
public enum Overwriting: Hashable, Sendable {
    /// Other shipments, complete or not.
    case shipments
    /// Any file.
    case anything

    /// - Throws: `.inTheWay` if a shipment may not be written to the path.
    package func check(_ path: FilePath) throws(LinkError) {
        guard ResultFile.mayTake(path, replacing: kind) else { throw .inTheWay(path) }
    }

    fileprivate var kind: ResultFile.Kind? {
        switch self {
        case .shipments: ResultFile.Kind(tellingBy: Preamble.size, Preamble.begins)
        case .anything: nil
        }
    }
}

extension DispatchQueue {
    /// A thread for the blocking calls of one link, which keep no task from running.
    fileprivate static func forOneLink() -> DispatchQueue { DispatchQueue(label: "ship-store.link") }

    fileprivate func run<Value: Sendable>(
        _ call: @escaping @Sendable () throws(FileError) -> Value
    ) async throws(LinkError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, FileError>, Never>) in
            self.async { continuation.resume(returning: Result(catching: call)) }
        }
        return try LinkError.wrapping(result.get)
    }
}
