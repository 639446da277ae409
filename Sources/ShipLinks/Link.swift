import ShipProtocol

/// A stream of bytes to a peer and one from it, whatever carries them: a session goes over any of these.
///
/// One task reads at a time, and one writes, both at the same time. What is written comes out at the other end once, in order, in
/// whatever pieces; where messages may come twice or overtake each other, `MessageLink` sees to that. `StreamLink` makes a link of an
/// asynchronous sequence and a closure.
///
/// Errors of any kind may be thrown; they end the session. `LinkError` and `CancellationError` are told as they are.
public protocol Link: Sendable {
    /// The next bytes, in whatever pieces they come.
    ///
    /// A call that timed out or was cancelled loses nothing: the next one goes on where it left off.
    ///
    /// - Parameter limit: How long to wait for the first byte; then `LinkError.timedOut(.reading)`.
    /// - Returns: `nil`, or no bytes, once the peer has finished its side.
    func read(within limit: Duration) async throws -> [UInt8]?

    /// Returns when whatever carries the link has taken the last byte, so that a slow link slows the writer.
    ///
    /// - Parameters:
    ///   - bytes: Any number of them.
    ///   - limit: How long nothing at all may be taken; then `LinkError.timedOut(.writing)`.
    func write(_ bytes: [UInt8], within limit: Duration) async throws

    /// Says that nothing more comes; reading goes on. A second call does nothing.
    func finish() async throws
}

extension PeerLink {
    /// - Parameters:
    ///   - link: Whose own limits of time are relied on; `finish` has none, and gets one.
    ///   - name: What the other side is called, in messages, and by which a sender remembers what its receivers have.
    ///   - limit: How long it may take to say that nothing more comes.
    package init(_ link: some Link, to name: String, finishingWithin limit: Duration) {
        let adapter = CarriedLink(link: link, limit: limit)
        self.init(
            direction: .twoWay, reader: LinkReader(adapter), writer: LinkWriter(adapter), peer: .carried(name))
    }
}

/// An app's link, whose errors are told as ours.
private struct CarriedLink<Carrier: Link>: LinkSource, LinkSink {
    let link: Carrier
    let limit: Duration

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        do {
            guard let bytes = try await link.read(within: limit), !bytes.isEmpty else { return nil }
            return bytes
        } catch {
            throw LinkError(ofCarrier: error)
        }
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        guard !bytes.isEmpty else { return }
        do {
            try await link.write(bytes, within: limit)
        } catch {
            throw LinkError(ofCarrier: error)
        }
    }

    func finish() async throws(LinkError) {
        let task = Task { try await link.finish() }
        defer { task.cancel() }
        try await AwaitedAnswer<Void>.wait(within: limit, or: .timedOut(.writing)) { answer in
            Task { answer.give(await task.result.mapError(LinkError.init(ofCarrier:))) }
        }
    }
}

extension LinkError {
    /// What an app's own code, or what it carries a link over, has thrown.
    init(ofCarrier error: any Error) {
        self =
            switch error {
            case let error as LinkError: error
            case is CancellationError: .cancelled
            default: .carrierFailed(ForeignText(String(describing: error)))
            }
    }
}
