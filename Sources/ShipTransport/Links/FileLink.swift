import NIOCore
import NIOPosix
import StoreFiles
import SystemPackage

import struct SystemPackage.FileDescriptor

/// Links to a path in the file system. A named pipe and a device are read from and written to as they are; everything else is
/// a file that appears when it is whole.
///
/// Whatever lies at the path, it counts as a file: the user has named a place where something is kept, and not somebody who
/// speaks. What is there may have been put there by others since.
enum FileLink {
    static func writing(_ path: FilePath, _ options: LinkOptions) async throws(LinkError) -> OpenLink {
        switch try? PlatformCalls.statusFollowingLinks(of: path).kind {
        case .folder: throw .file(FileError(.open, path, .isDirectory))
        case nil, .file, .symbolicLink:
            let sink = try FileSink(path, over: options.overwriting)
            let link = Link(
                direction: .oneWay, medium: .file, reader: LinkReader(NoSource()), writer: LinkWriter(sink),
                peer: .file(path))
            return OpenLink(link: link, file: sink)
        case .pipe, .socket, .characterDevice, .other:
            let file = try await open(path, .writeOnly, options)
            let output = try await DescriptorLink.writing(file.descriptor, as: path, options)
            let link = Link(
                direction: .oneWay, medium: .file, reader: LinkReader(NoSource()), writer: output.end,
                peer: .file(path))
            return OpenLink(link: link, channels: [output.channel].compactMap(\.self))
        }
    }

    static func checkTarget(_ path: FilePath, _ options: LinkOptions) throws(LinkError) {
        switch try? PlatformCalls.statusFollowingLinks(of: path).kind {
        case .folder: throw .file(FileError(.open, path, .isDirectory))
        case nil, .file, .symbolicLink: try FileSink.check(path, over: options.overwriting)
        case .pipe, .socket, .characterDevice, .other: break
        }
    }

    static func reading(_ path: FilePath, _ options: LinkOptions) async throws(LinkError) -> OpenLink {
        let file = try await open(path, .readOnly, options)
        let kind = try DescriptorLink.linkErrors { () throws(FileError) in
            try PlatformCalls.status(of: file.descriptor, path).kind
        }
        guard kind != .folder else { throw .file(FileError(.open, path, .isDirectory)) }
        let input = try await DescriptorLink.reading(file.descriptor, as: path)
        let link = Link(
            direction: .oneWay, medium: .file, reader: input.end, writer: LinkWriter(NoSink()), peer: .file(path))
        return OpenLink(link: link, channels: [input.channel].compactMap(\.self))
    }

    /// Opening a named pipe waits for somebody at its other end: no longer than for a connection.
    private static func open(
        _ path: FilePath, _ mode: FileDescriptor.AccessMode, _ options: LinkOptions
    ) async throws(LinkError) -> OpenFile {
        let descriptor = try await Answer<FileDescriptor>.wait { answer in
            let timer = LinkThreads.eventLoops.next().scheduleTask(in: TimeAmount(clamping: options.connectTimeout)) {
                answer.give(.failure(.timedOutConnecting(.file(path))))
            }
            LinkThreads.blocking.submit { _ in
                do {
                    let descriptor = try FileDescriptor.open(path, mode, options: .closeOnExec)
                    if !answer.give(.success(descriptor)) { try? descriptor.close() }
                } catch {
                    answer.give(.failure(.file(FileError(.open, path, error as? Errno ?? .ioError))))
                }
                timer.cancel()
            }
        }
        return OpenFile.owning(descriptor, as: path)
    }
}
