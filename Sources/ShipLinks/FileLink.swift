import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Links to a path in the file system: from whatever lies there, and to a file that appears when it is whole.
///
/// Whatever lies at the path, it counts as a file: the user has named a place where something is kept, and not somebody who
/// speaks. What is there may have been put there by others since.
package enum FileLink {
    /// What a path is as a place for a shipment.
    package enum Target: Hashable, Sendable {
        /// A file is there, or can be.
        case file
        /// A named pipe, a device: it is written to as it is.
        case special
    }

    /// - Throws: `.file` for a folder.
    package static func target(at path: FilePath) throws(LinkError) -> Target {
        switch try? PlatformCalls.statusFollowingLinks(of: path).kind {
        case .folder: throw .file(FileError(.open, path, .isDirectory))
        case nil, .file, .symbolicLink: .file
        case .pipe, .socket, .characterDevice, .other: .special
        }
    }

    /// Whether a shipment may be written there.
    ///
    /// - Throws: `.inTheWay`, `.file`.
    package static func checkTarget(_ path: FilePath, _ overwriting: Overwriting) throws(LinkError) {
        if try target(at: path) == .file { try FileSink.check(path, over: overwriting) }
    }

    /// A link into a file that appears under its name when `body` is done, synced; never if it throws.
    ///
    /// - Throws: `.inTheWay`, `.file`, and what `body` throws.
    package nonisolated(nonsending) static func withLink<Result>(
        to path: FilePath, over overwriting: Overwriting,
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        guard try target(at: path) == .file else { throw LinkError.inTheWay(path) }
        let sink = try FileSink(path, over: overwriting)
        do {
            let result = try await body(
                PeerLink(
                    direction: .oneWay, medium: .file, reader: LinkReader(NoSource()), writer: LinkWriter(sink),
                    peer: .at(.file(path))))
            try await sink.finish()
            return result
        } catch {
            sink.abandon()
            throw error
        }
    }

    /// A link from what lies at a path.
    ///
    /// - Parameter limit: How long a named pipe may take to be opened at its other end.
    /// - Throws: `.timedOutConnecting`, `.isATerminal`, `.file`, and what `body` throws.
    package nonisolated(nonsending) static func withLink<Result>(
        from path: FilePath, within limit: Duration,
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        let file = try await open(path, .readOnly, within: limit)
        guard !PlatformCalls.isTerminal(file.descriptor) else { throw LinkError.isATerminal(.input) }
        let kind = try LinkError.ofFile { () throws(FileError) in
            try PlatformCalls.status(of: file.descriptor, path).kind
        }
        switch kind {
        case .folder: throw LinkError.file(FileError(.open, path, .isDirectory))
        case .file, .symbolicLink: break
        case .pipe, .socket, .characterDevice, .other:
            // Opened here, its flags are shared with nobody.
            let flags = PlatformCalls.statusFlags(of: file.descriptor) ?? 0
            PlatformCalls.setStatusFlags(PlatformCalls.nonBlocking(flags), of: file.descriptor)
        }
        return try await body(
            PeerLink(
                direction: .oneWay, medium: .file, reader: LinkReader(FileSource(file)), writer: LinkWriter(NoSink()),
                peer: .at(.file(path))))
    }

    /// Opens what lies there. Opening a named pipe waits for somebody at its other end.
    ///
    /// - Throws: `.timedOutConnecting`, `.file`.
    package static func open(
        _ path: FilePath, _ mode: FileDescriptor.AccessMode, within limit: Duration
    ) async throws(LinkError) -> OpenFile {
        let timeout = LinkError.timedOutConnecting(.file(path))
        let descriptor = try await AwaitedAnswer<FileDescriptor>.wait(within: limit, or: timeout) { answer in
            // It cannot be interrupted: after a timeout its thread goes on for a while.
            BlockingCalls().start {
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

/// A shipment that becomes a file. It takes the place of another shipment, and of nothing else unless that was said.
final class FileSink: LinkSink {
    private let path: FilePath
    private let file: ResultFile
    private let calls = BlockingCalls()

    /// - Throws: `.inTheWay`, `.file`.
    init(_ path: FilePath, over overwriting: Overwriting) throws(LinkError) {
        self.path = path
        try Self.check(path, over: overwriting)
        do throws(FileError) {
            file = try ResultFile(path, replacing: overwriting.kind)
        } catch {
            throw .file(error)
        }
    }

    /// - Throws: `.inTheWay`.
    static func check(_ path: FilePath, over overwriting: Overwriting) throws(LinkError) {
        guard ResultFile.mayTake(path, replacing: overwriting.kind) else { throw .inTheWay(path) }
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        try await calls.run { [self] () throws(FileError) in try file.write(bytes) }
    }

    func finish() async throws(LinkError) {
        let isInPlace = try await calls.run { [self] () throws(FileError) in try file.finish() }
        guard isInPlace else { throw .inTheWay(path) }
    }

    func abandon() { file.abandon() }
}

/// What stands at the path of a shipment that becomes a file, and may go.
public enum Overwriting: Hashable, Sendable {
    /// Other shipments, whole or not.
    case shipments
    /// Any file.
    case anything

    fileprivate var kind: ResultFile.Kind? {
        switch self {
        case .shipments: ResultFile.Kind(tellingBy: Preamble.size, Preamble.begins)
        case .anything: nil
        }
    }
}
