import NIOCore
import NIOPosix
import ShipLinks
import StoreFiles
import SystemPackage

import struct SystemPackage.FileDescriptor

/// Links over descriptors that are open already, and to a path that leads to something else than a plain file.
enum DescriptorLink {
    /// One side of a link over a descriptor.
    struct Side<End: Sendable>: Sendable {
        let end: End
        var channel: (any Channel)?
        var borrowed: BorrowedDescriptor?
    }

    /// A descriptor's reading side. The descriptor stays open, and is put back as it was in the end.
    static func reading(_ descriptor: FileDescriptor, as path: FilePath) async throws(LinkError) -> Side<LinkReader> {
        guard !PlatformCalls.isTerminal(descriptor) else { throw .isATerminal(.input) }
        guard try isWatchable(descriptor, path) else {
            let file = try LinkError.ofFile { () throws(FileError) in try OpenFile.duplicating(descriptor, as: path) }
            return Side(end: LinkReader(FileSource(file)))
        }
        let borrowed = BorrowedDescriptor(descriptor)
        let channel = try await takeOver(duplicate(descriptor, path)) { $0.takingOwnershipOfDescriptor(input: $1) }
        return Side(end: LinkReader(channel.input), channel: channel.channel, borrowed: borrowed)
    }

    /// A descriptor's writing side. The descriptor stays open, and is put back as it was in the end.
    static func writing(
        _ descriptor: FileDescriptor, as path: FilePath, _ options: LinkOptions
    ) async throws(LinkError) -> Side<LinkWriter> {
        guard !PlatformCalls.isTerminal(descriptor) else { throw .isATerminal(.output) }
        guard try isWatchable(descriptor, path) else {
            let file = try LinkError.ofFile { () throws(FileError) in try OpenFile.duplicating(descriptor, as: path) }
            return Side(end: LinkWriter(FileWriter(file)))
        }
        let borrowed = BorrowedDescriptor(descriptor)
        let channel = try await takeOver(duplicate(descriptor, path)) { $0.takingOwnershipOfDescriptor(output: $1) }
        let output = ChannelOutput(channel.channel, closing: .all, finishLimit: options.lingerTime)
        return Side(end: LinkWriter(output), channel: channel.channel, borrowed: borrowed)
    }

    /// A link to a named pipe or a device, which is written to as it is.
    static func writing(toSpecialFile path: FilePath, _ options: LinkOptions) async throws(LinkError) -> OpenLink {
        let file = try await FileLink.open(path, .writeOnly, within: options.connectTimeout)
        let output = try await writing(file.descriptor, as: path, options)
        let link = PeerLink(
            direction: .oneWay, medium: .file, reader: LinkReader(NoSource()), writer: output.end,
            peer: .at(.file(path)))
        return OpenLink(link: link, channels: [output.channel].compactMap(\.self))
    }

    /// Whether epoll(7) can watch it, and an answer can go through it.
    static func isWatchable(_ descriptor: FileDescriptor, _ path: FilePath) throws(LinkError) -> Bool {
        let status = try LinkError.ofFile { () throws(FileError) in try PlatformCalls.status(of: descriptor, path) }
        return status.kind == .pipe || status.kind == .socket
    }

    /// Gives NIO a descriptor, which it closes in the end, come what may.
    static func takeOver(
        _ descriptor: FileDescriptor,
        _ start: (NIOPipeBootstrap, CInt) -> EventLoopFuture<any Channel>
    ) async throws(LinkError) -> LinkChannel {
        let eventLoop = LinkThreads.eventLoops.next()
        let prepared = NIOLoopBoundBox<LinkChannel?>.makeEmptyBox(valueType: LinkChannel.self, eventLoop: eventLoop)
        let bootstrap = NIOPipeBootstrap(group: eventLoop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { prepared.value = try LinkChannel.prepare(channel, .pipe) }
        }
        do {
            guard let channel = try await start(bootstrap, descriptor.rawValue).map({ _ in prepared.value }).get()
            else { throw LinkError.io(.ioError) }
            return channel
        } catch {
            try? descriptor.close()
            throw LinkError(onOpenLink: error)
        }
    }

    static func duplicate(_ descriptor: FileDescriptor, _ path: FilePath) throws(LinkError) -> FileDescriptor {
        try LinkError.ofFile { () throws(FileError) in try PlatformCalls.duplicate(descriptor, path) }
    }
}

/// Links over the standard streams. Their other ends see the end of a stream when this process ends.
///
/// A pipe and a socket are streams. Anything else, as after `< FILE`, is a file, as if its path had been given.
enum StandardStreams {
    private static let inputPath: FilePath = "/dev/stdin"
    private static let outputPath: FilePath = "/dev/stdout"

    /// One way, to the standard output.
    static func sending(_ options: LinkOptions) async throws(LinkError) -> OpenLink {
        let output = try await DescriptorLink.writing(options.standardOutput, as: outputPath, options)
        let link = PeerLink(
            direction: .oneWay, medium: output.channel == nil ? .file : .stream, reader: LinkReader(NoSource()),
            writer: output.end, peer: .at(.standardStreams))
        return OpenLink(
            link: link, channels: [output.channel].compactMap(\.self), borrowed: [output.borrowed].compactMap(\.self))
    }

    /// From the standard input, with answers to the standard output where somebody may read them.
    static func receiving(_ options: LinkOptions) async throws(LinkError) -> OpenLink {
        let input = try await DescriptorLink.reading(options.standardInput, as: inputPath)
        let medium = input.channel == nil ? PeerLink.Medium.file : .stream
        var opened = OpenLink(
            link: PeerLink(
                direction: .oneWay, medium: medium, reader: input.end, writer: LinkWriter(NoSink()),
                peer: .at(.standardStreams)),
            channels: [input.channel].compactMap(\.self), borrowed: [input.borrowed].compactMap(\.self))
        guard !options.standardOutputIsTaken else { return opened }
        guard (try? DescriptorLink.isWatchable(options.standardOutput, outputPath)) == true else { return opened }
        do throws(LinkError) {
            let output = try await DescriptorLink.writing(options.standardOutput, as: outputPath, options)
            opened.link = PeerLink(
                direction: .twoWay, medium: medium, reader: input.end, writer: output.end, peer: .at(.standardStreams))
            opened.channels += [output.channel].compactMap(\.self)
            opened.borrowed += [output.borrowed].compactMap(\.self)
            return opened
        } catch {
            await opened.close()
            throw error
        }
    }
}
