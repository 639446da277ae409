import NIOCore
import ShipLinks
import SystemPackage

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
