// A module that makes links sees what they are.
@_exported public import ShipLinks

/// The link that an endpoint names, open while `body` runs.
extension PeerLink {
    /// A link to send a shipment over. `-` and a file are one-way.
    ///
    /// A file appears under its name when `body` is done, synced; never if `body` throws. When `body` is done, the link is finished and
    /// closed; see `LinkOptions.lingerTime`. A child gets `LinkOptions.childExitTime` to end, and is then stopped; it is stopped at
    /// once when the task is cancelled.
    ///
    /// - Throws: `LinkError`, or what `body` throws.
    package nonisolated(nonsending) static func withLink<Result>(
        to endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        switch endpoint {
        case .tcp(let host, let port): try await OpenLink.toHost(host, port: port, options).use(body)
        case .unix(let path): try await OpenLink.toSocketFile(path, options).use(body)
        case .command(let command): try await ChildLink.use(command, options, body)
        case .standardStreams: try await OpenLink.toStandardOutput(options).use(body)
        case .file(let path):
            if try isFile(at: path) {
                try await withLink(toFile: path, over: options.overwriting, body)
            } else {
                try await OpenLink.toSpecialFile(path, options).use(body)
            }
        // Nobody is at the other end of a publication.
        case .folder, .web, .bucket: throw LinkError.oneWay
        }
    }

    /// Checks whether a shipment may be written there, without opening a link.
    ///
    /// - Throws: `.inTheWay`, or `.file` for a folder.
    package static func checkTarget(_ endpoint: Endpoint, _ options: LinkOptions) throws(LinkError) {
        if case .file(let path) = endpoint, try isFile(at: path) { try options.overwriting.check(path) }
    }

    /// A link to receive a shipment from. A file is one-way; so is `-`, unless the standard output is a pipe or a socket, which can
    /// carry the answer.
    ///
    /// - Throws: `LinkError`, or what `body` throws.
    package nonisolated(nonsending) static func withLink<Result>(
        from endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        switch endpoint {
        case .tcp, .unix, .command, .folder, .web, .bucket: try await withLink(to: endpoint, options, body)
        case .standardStreams: try await OpenLink.fromStandardInput(options).use(body)
        case .file(let path): try await withLink(fromFile: path, within: options.connectTimeout, body)
        }
    }
}
