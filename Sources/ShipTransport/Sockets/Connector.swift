package import ShipLinks

/// Makes the link that an endpoint names, for as long as a body of code needs it.
package enum Connector {
    /// A link to send a shipment over. `-` and a file go one way only.
    ///
    /// The file appears under its name when the body is done, synced; never if it throws. When the body is done, the link
    /// is finished and closed; see `LinkOptions.lingerTime`. A child is given `LinkOptions.childExitTime` to end and is
    /// then stopped, at once when the task is cancelled.
    ///
    /// - Throws: `LinkError`, or what `body` throws.
    package nonisolated(nonsending) static func withLink<Result>(
        to endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        switch endpoint {
        case .tcp(let host, let port): try await SocketConnection.toHost(host, port: port, options).use(body)
        case .unix(let path): try await SocketConnection.toSocketFile(path, options).use(body)
        case .command(let command): try await ChildLink.use(command, options, body)
        case .standardStreams: try await StandardStreams.sending(options).use(body)
        case .file(let path):
            switch try FileLink.target(at: path) {
            case .file: try await FileLink.withLink(to: path, over: options.overwriting, body)
            case .special: try await DescriptorLink.writing(toSpecialFile: path, options).use(body)
            }
        }
    }

    /// Whether a shipment may be written there, of what can be told without opening a link.
    ///
    /// - Throws: `.inTheWay`, or `.file` for a folder.
    package static func checkTarget(_ endpoint: Endpoint, _ options: LinkOptions) throws(LinkError) {
        if case .file(let path) = endpoint { try FileLink.checkTarget(path, options.overwriting) }
    }

    /// A link to receive a shipment from. A file goes one way only; so does `-`, unless an answer can be written to the
    /// standard output: to a pipe or a socket, not to a terminal or a file.
    ///
    /// - Throws: `LinkError`, or what `body` throws.
    package nonisolated(nonsending) static func withLink<Result>(
        from endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        switch endpoint {
        case .tcp, .unix, .command: try await withLink(to: endpoint, options, body)
        case .standardStreams: try await StandardStreams.receiving(options).use(body)
        case .file(let path): try await FileLink.withLink(from: path, within: options.connectTimeout, body)
        }
    }
}
