import NIOCore
import NIOPosix
import ShipLinks
import ShipProtocol
import StoreFiles
import SystemPackage

import struct SystemPackage.FileDescriptor

/// A link and what it holds open: used once, and then closed, after an error too.
struct OpenLink: Sendable {
    var link: PeerLink
    var channels: [any Channel] = []
    /// Set if closing too early could lose the last bytes that this side wrote.
    var input: LinkChannel?
    var output: ChannelOutput?
    /// Descriptors that other processes may share, which NIO has made non-blocking: their flags must be as before in the end.
    var borrowed: [(descriptor: FileDescriptor, flags: CInt)] = []
    var lingerTime = Duration.zero

    static func over(_ channel: LinkChannel, to peer: Endpoint, _ options: LinkOptions) -> OpenLink {
        let output = ChannelOutput(channel.channel, beside: channel, closing: .output, finishLimit: options.lingerTime)
        return OpenLink(
            link: PeerLink(
                direction: .twoWay, reader: channel, writer: output, peer: .at(peer), device: channel.device),
            channels: [channel.channel], input: channel, output: output, lingerTime: options.lingerTime)
    }

    /// Runs `body`, then finishes the link if `body` has not, and closes it.
    ///
    /// Unless the task is cancelled, the peer gets the last bytes that were written.
    nonisolated(nonsending) func use<Result>(
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body(link)
            await close()
            return result
        } catch {
            await close()
            throw error
        }
    }

    /// Closes the link; a peer that may still be sending gets `lingerTime` to end its side first.
    func close() async {
        let deadline = ContinuousClock.now + lingerTime
        if !Task.isCancelled, let output, (try? await output.finish()) != nil, let input {
            await input.drain(until: deadline)
        }
        for channel in channels { try? await channel.close() }
        for (descriptor, flags) in borrowed { PlatformCalls.setStatusFlags(flags, of: descriptor) }
    }
}

/// Links over the standard streams. The other side sees the end of a stream when this process ends.
///
/// A pipe and a socket are streams. Anything else, as after `< FILE`, counts as a file, as if the user had given its path.
extension OpenLink {
    private static let inputPath: FilePath = "/dev/stdin"
    private static let outputPath: FilePath = "/dev/stdout"

    /// One way, to the standard output.
    static func toStandardOutput(_ options: LinkOptions) async throws(LinkError) -> OpenLink {
        let output = try await writing(to: options.standardOutput, as: outputPath, options)
        let link = PeerLink(
            direction: .oneWay, isFile: output.channel == nil, reader: ClosedSide(),
            writer: output.writer, peer: .at(.standardStreams))
        return OpenLink(
            link: link, channels: [output.channel].compactMap(\.self), borrowed: [output.borrowed].compactMap(\.self))
    }

    /// From the standard input, with answers to the standard output if that is a stream.
    static func fromStandardInput(_ options: LinkOptions) async throws(LinkError) -> OpenLink {
        let input = try await reading(from: options.standardInput, as: inputPath)
        let isFile = input.channel == nil
        var opened = OpenLink(
            link: PeerLink(
                direction: .oneWay, isFile: isFile, reader: input.reader, writer: ClosedSide(),
                peer: .at(.standardStreams)),
            channels: [input.channel].compactMap(\.self), borrowed: [input.borrowed].compactMap(\.self))
        guard !options.standardOutputIsTaken else { return opened }
        guard (try? isStream(options.standardOutput, outputPath)) == true else { return opened }
        do throws(LinkError) {
            let output = try await writing(to: options.standardOutput, as: outputPath, options)
            opened.link = PeerLink(
                direction: .twoWay, isFile: isFile, reader: input.reader, writer: output.writer,
                peer: .at(.standardStreams))
            opened.channels += [output.channel].compactMap(\.self)
            opened.borrowed += [output.borrowed].compactMap(\.self)
            return opened
        } catch {
            await opened.close()
            throw error
        }
    }

    /// A link to a named pipe or a device, which is written to as it is.
    static func toSpecialFile(_ path: FilePath, _ options: LinkOptions) async throws(LinkError) -> OpenLink {
        let file = try await OpenFile.waiting(for: path, .writeOnly, within: options.connectTimeout)
        let output = try await writing(to: file.descriptor, as: path, options)
        let link = PeerLink(
            direction: .oneWay, isFile: true, reader: ClosedSide(), writer: output.writer, peer: .at(.file(path)))
        return OpenLink(link: link, channels: [output.channel].compactMap(\.self))
    }

    // MARK: One side of a link over a descriptor, which stays open; `borrowed` restores its flags in the end

    private static func reading(from descriptor: FileDescriptor, as path: FilePath) async throws(LinkError) -> (
        reader: any LinkReader, channel: (any Channel)?, borrowed: (descriptor: FileDescriptor, flags: CInt)?
    ) {
        guard !PlatformCalls.isTerminal(descriptor) else { throw .isATerminal(.reading) }
        guard try isStream(descriptor, path) else { return (try fileStream(descriptor, path), nil, nil) }
        let borrowed = PlatformCalls.statusFlags(of: descriptor).map { (descriptor: descriptor, flags: $0) }
        let channel = try await LinkChannel.takingOver(duplicate(descriptor, path)) {
            $0.takingOwnershipOfDescriptor(input: $1)
        }
        return (channel, channel.channel, borrowed)
    }

    private static func writing(
        to descriptor: FileDescriptor, as path: FilePath, _ options: LinkOptions
    ) async throws(LinkError) -> (
        writer: any LinkWriter, channel: (any Channel)?, borrowed: (descriptor: FileDescriptor, flags: CInt)?
    ) {
        guard !PlatformCalls.isTerminal(descriptor) else { throw .isATerminal(.writing) }
        guard try isStream(descriptor, path) else { return (try fileStream(descriptor, path), nil, nil) }
        let borrowed = PlatformCalls.statusFlags(of: descriptor).map { (descriptor: descriptor, flags: $0) }
        let channel = try await LinkChannel.takingOver(duplicate(descriptor, path)) {
            $0.takingOwnershipOfDescriptor(output: $1)
        }
        let output = ChannelOutput(channel.channel, closing: .all, finishLimit: options.lingerTime)
        return (output, channel.channel, borrowed)
    }

    /// Whether epoll(7) can watch it, and an answer can go through it.
    private static func isStream(_ descriptor: FileDescriptor, _ path: FilePath) throws(LinkError) -> Bool {
        let status = try LinkError.wrapping { () throws(FileError) in try PlatformCalls.status(of: descriptor, path) }
        return status.kind == .pipe || status.kind == .socket
    }

    private static func fileStream(_ descriptor: FileDescriptor, _ path: FilePath) throws(LinkError) -> FileStream {
        FileStream(try LinkError.wrapping { () throws(FileError) in try OpenFile.duplicating(descriptor, as: path) })
    }

    private static func duplicate(_ descriptor: FileDescriptor, _ path: FilePath) throws(LinkError) -> FileDescriptor {
        try LinkError.wrapping { () throws(FileError) in try PlatformCalls.duplicate(descriptor, path) }
    }
}

// The threads that move bytes, for the whole process: they start when they are first needed, and never stop.

extension MultiThreadedEventLoopGroup {
    /// One thread is enough for any number of links: it only moves bytes between the kernel and this process.
    static let forLinks = MultiThreadedEventLoopGroup(numberOfThreads: 1)
}

extension NIOThreadPool {
    /// For calls that block: the resolver, and what a listener reads from the disk when a device connects.
    static let forLinks: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 2)
        pool.start()
        return pool
    }()
}

extension TimeAmount {
    /// A longer time than a year becomes a year, so that no sum of times overflows.
    init(clamping duration: Duration) {
        self.init(min(duration, .seconds(365 * 24 * 60 * 60)))
    }
}
