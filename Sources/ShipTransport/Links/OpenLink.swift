import NIOCore
import StoreFiles
import SystemPackage

import struct SystemPackage.FileDescriptor

/// A link and what it holds open: used once, and closed whatever happens.
struct OpenLink: Sendable {
    var link: Link
    var channels: [any Channel] = []
    /// Set where the last word could be lost by closing too early.
    var input: ChannelInput?
    var output: ChannelOutput?
    /// The file that appears when all went well.
    var file: FileSink?
    /// Descriptors that others share, which NIO has made fail rather than wait.
    var borrowed: [BorrowedDescriptor] = []
    var lingerTime = Duration.zero

    /// Runs `body`, then finishes what it has not finished itself, and closes the link.
    ///
    /// If `body` throws, or the task is cancelled, a file does not appear. Unless it is cancelled, the peer gets the last
    /// word that was written.
    nonisolated(nonsending) func use<Result>(
        _ body: nonisolated(nonsending) (Link) async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body(link)
            try await file?.finish()
            await close()
            return result
        } catch {
            file?.abandon()
            await close()
            throw error
        }
    }

    /// Closes the link: to a peer that may still be sending, in an orderly way.
    func close() async {
        let deadline = ContinuousClock.now + lingerTime
        if !Task.isCancelled, let output, (try? await output.finish()) != nil, let input {
            await input.drain(until: deadline)
        }
        for channel in channels { try? await channel.close() }
        for descriptor in borrowed { descriptor.restore() }
    }
}

/// A descriptor that is not ours to change: it may be another process's as well.
struct BorrowedDescriptor: Sendable {
    private let descriptor: FileDescriptor
    private let flags: CInt

    init?(_ descriptor: FileDescriptor) {
        guard let flags = PlatformCalls.statusFlags(of: descriptor) else { return nil }
        self.descriptor = descriptor
        self.flags = flags
    }

    func restore() { PlatformCalls.setStatusFlags(flags, of: descriptor) }
}
