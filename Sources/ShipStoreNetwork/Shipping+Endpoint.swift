public import ShipProtocol
// An app that ships over sockets and pipes sees the whole library.
@_exported public import ShipStore
@_exported public import ShipTransport
import StoreFiles
import Synchronization
import SystemPackage

extension Producer {
    /// Ships one compact copy of each store.
    ///
    /// - Parameter limit: For how long to try again after a failure that may pass.
    /// - Returns: One delivery for each store, in their order. On a two-way link it has the consumer's receipt: then the copy is
    ///   installed and durable.
    /// - Throws: The error of the first store that failed. The other stores have arrived nevertheless, except in a file, which is
    ///   complete or absent. `report` gets each error.
    public func send(
        to endpoint: Endpoint, publishing: Publishing = Publishing(), _ link: LinkOptions = LinkOptions(),
        retryingFor limit: Duration = .zero,
        report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Delivery] {
        let attempts = Attempts(until: .now + limit) { report(.disconnected($0)) }
        return try await ShipmentError.awaiting {
            while true {
                do throws(ShipmentError) {
                    return try await attempt(to: endpoint, publishing, link, report)
                } catch {
                    // The path may be wrong: only who follows waits for a store of its own. What is not elsewhere may come.
                    if case .source(.noSuchFile) = error { throw error }
                    try await attempts.rest(after: error)
                }
            }
        }
    }

    private func attempt(
        to endpoint: Endpoint, _ publishing: Publishing, _ link: LinkOptions,
        _ report: @escaping @Sendable (SendEvent) -> Void
    ) async throws(ShipmentError) -> [Delivery] {
        return try await ShipmentError.awaiting {
            if let publisher = try await publisher(to: endpoint, link, publishing, report) {
                return try await publisher.publish()
            }
            let job = try await sendJob(to: endpoint, link, report)
            var options = link
            if case .tcp = endpoint { options.security = try self.options.trust.security(of: .receiver) }
            return try await PeerLink.withLink(to: endpoint, options) { try await job.run(over: $0) }
        }
    }

    /// - Returns: `nil` if the endpoint is no publication.
    func publisher(
        to endpoint: Endpoint, _ link: LinkOptions, _ publishing: Publishing,
        _ report: @escaping @Sendable (SendEvent) -> Void
    ) async throws -> Publisher? {
        let storage: any PublicationStorage
        switch endpoint {
        case .folder(let path) where !isOfInbox: storage = PublicationFolder(at: path)
        case .bucket(let address) where !isOfInbox:
            storage = try BucketPublication(
                at: address, link.storage, options.timeouts, trusting: link.authorities,
                remembering: options.memory?.folder)
        case .folder, .bucket, .web: throw PublicationError.cannotPublish(endpoint)
        case .tcp, .unix, .command, .standardStreams, .file: return nil
        }
        // The first publisher makes the device's identity.
        return try await BlockingExecutor.run {
            try Publisher(self, to: storage, at: endpoint, publishing, report: report)
        }
    }

    /// Ships each store, and each settled change of it, until the task is cancelled; connects again whenever the connection breaks.
    ///
    /// - Parameters:
    ///   - endpoint: Of a receiver that answers.
    ///   - report: Told of what happens, as it does. What goes on failing for the same reason is told once.
    /// - Throws: What is wrong with a store at the start; why no store is followed any more; `.stopped`.
    public func follow(
        to endpoint: Endpoint, _ following: Following = Following(), publishing: Publishing = Publishing(),
        _ link: LinkOptions = LinkOptions(),
        report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) {
        try await ShipmentError.awaiting {
            if let publisher = try await publisher(to: endpoint, link, publishing, report) {
                return try await publisher.follow(following)
            }
            let watched = try WatchedStores(
                of: self, following, isShared: false, before: WatchedStores.recentBases(of: self, following),
                report: report)
            let follower = StoreFollower(self, following, watched, report: report)
            try await watched.whileFollowed {
                while true {
                    var failure: ShipmentError?
                    do {
                        var options = link
                        if case .tcp = endpoint { options.security = try self.options.trust.security(of: .receiver) }
                        _ = try await PeerLink.withLink(to: endpoint, options) { try await follower.session(over: $0) }
                    } catch {
                        failure = ShipmentError(error)
                    }
                    try await follower.rest(after: failure)
                }
            }
        }
    }

    /// Does what `send` does, except for sending: it connects to no peer, writes only temporary copies, and uses up no shipment number.
    ///
    /// - Returns: The deliveries that would go, with the most bytes that each may take: a receiver may have some of it already.
    public func rehearse(
        to endpoint: Endpoint, _ link: LinkOptions = LinkOptions(),
        report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Delivery] {
        return try await ShipmentError.awaiting {
            let job = try await sendJob(to: endpoint, link, report)
            try PeerLink.checkTarget(endpoint, link)
            let isFile = if case .file = endpoint { true } else { false }
            return try await job.rehearse(intoFile: isFile, as: endpoint)
        }
    }

    /// Checks that the endpoint is no file of a store that is being sent, whatever the user allows to be replaced.
    private func sendJob(
        to endpoint: Endpoint, _ link: LinkOptions, _ report: @escaping @Sendable (SendEvent) -> Void
    ) async throws(ShipmentError) -> SendJob {
        switch endpoint {
        case .file(let file): return try await sendJob(avoiding: file, report: report)
        case .standardStreams:
            let output = try? PlatformCalls.status(of: link.standardOutput, "-")
            return try await sendJob(report: report) { (store, path) throws(ShipmentError) in
                if let output, store.owns(output) { throw .source(.partOfStore(path)) }
            }
        case .tcp, .unix, .command, .folder, .web, .bucket: return try await sendJob(report: report)
        }
    }
}

extension Consumer {
    /// Receives the shipments from an endpoint. A sender that listens there ships what there is.
    ///
    /// - Returns: A receipt for each shipment, which is installed, durable and current.
    /// - Throws: The error of the first shipment that failed. The others are installed nevertheless; `report` gets each error.
    public func receive(
        from endpoint: Endpoint, _ link: LinkOptions = LinkOptions(),
        report: @escaping @Sendable (ReceiveReport) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Receipt] {
        let stays =
            switch endpoint {
            case .tcp, .unix: false
            // What goes over a child, or over this process's streams, is the sender's decision.
            case .command, .standardStreams, .file, .folder, .web, .bucket: true
            }
        return try await ShipmentError.awaiting {
            if let reader = try publication(at: endpoint, link) {
                return try await receive(published: reader, at: endpoint, report: report)
            }
            return try await withLink(from: endpoint, link) {
                try await self.receive(over: $0, $1, staying: stays, report)
            }
        }
    }

    /// Receives the shipments of a sender that listens, and each change that it ships, until the task is cancelled; connects again whenever
    /// the connection breaks.
    ///
    /// - Parameters:
    ///   - endpoint: Where the sender listens. One that does not follow its stores is asked again at each `Timeouts.keepAlive`.
    ///   - interval: How often to look what is published, if the endpoint is a publication.
    ///   - keepsTrying: Whether to go on after a failure that time alone does not mend.
    ///   - report: Told of what happens, as it does. What goes on failing for the same reason is told once.
    /// - Throws: Why there is no use in another attempt; `.stopped`.
    public func follow(
        from endpoint: Endpoint, every interval: Duration = .seconds(2), keepsTrying: Bool = false,
        _ link: LinkOptions = LinkOptions(),
        report: @escaping @Sendable (ReceiveReport) -> Void = { _ in }
    ) async throws(ShipmentError) {
        try await ShipmentError.awaiting {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await self.keepRemovingUnwelcome() }
                group.addTask { [self] in
                    guard let reader = try publication(at: endpoint, link) else {
                        return try await follow(connectingTo: endpoint, keepsTrying: keepsTrying, link, report)
                    }
                    try await follow(
                        published: reader, at: endpoint, every: interval, keepsTrying: keepsTrying, report: report)
                }
                try await group.next()
            }
        }
    }

    private func follow(
        connectingTo endpoint: Endpoint, keepsTrying: Bool, _ link: LinkOptions,
        _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) async throws(ShipmentError) {
        // Why the last shipment of each store failed: what goes on failing for the same reason is told once.
        let failures = Mutex<[StoreName?: ShipmentError]>([:])
        let attempts = Attempts(keepsTrying: keepsTrying) { report(ReceiveReport(.disconnected($0))) }
        try await ShipmentError.awaiting {
            while true {
                // It is told when the next attempt is waited for.
                let lost = Mutex<ShipmentError?>(nil)
                let told: @Sendable (ReceiveReport) -> Void = { event in
                    switch event.event {
                    case .disconnected(let error): lost.withLock { $0 = error }
                    case .finished:
                        attempts.succeeded()
                        failures.withLock { $0[event.session?.name] = nil }
                        report(event)
                    case .failed(let error):
                        let isNews = failures.withLock { failures in
                            guard failures[event.session?.name] != error else { return false }
                            // A sender may give any number of names.
                            if failures.count >= Self.mostFailures { failures = [:] }
                            failures[event.session?.name] = error
                            return true
                        }
                        if isNews { report(event) }
                    default: report(event)
                    }
                }
                do {
                    let outcome = try await withLink(from: endpoint, link) {
                        try await session($0, $1, self.nextSession($0, told)) {}
                    }
                    if let lost = lost.withLock(\.self) { throw lost }
                    guard outcome.hasStayed else {
                        try await Task.sleep(for: options.timeouts.keepAlive.bounded)
                        continue
                    }
                    throw ShipmentError.link(.closedByPeer)
                } catch {
                    try await attempts.rest(after: ShipmentError(error))
                }
            }
        }
    }

    /// - Returns: `nil` if the endpoint is no publication.
    private func publication(at endpoint: Endpoint, _ link: LinkOptions) throws(PublicationError) -> (
        any PublicationReader
    )? {
        switch endpoint {
        case .folder(let path): PublicationFolder(at: path)
        case .bucket(let address):
            try BucketPublication(at: address, link.storage, options.timeouts, trusting: link.authorities)
        case .web(let address): WebPublication(at: address, options.timeouts, trusting: link.authorities)
        case .tcp, .unix, .command, .standardStreams, .file: nil
        }
    }

    /// Of how many stores a follower remembers why they failed.
    private static let mostFailures = 1024

    private func withLink<Result>(
        from endpoint: Endpoint, _ link: LinkOptions,
        _ body: nonisolated(nonsending) (PeerLink, ConsumerSession.Greeting) async throws -> Result
    ) async throws -> Result {
        var options = link
        if case .tcp = endpoint { options.security = try self.options.trust.security(of: .sender) }
        return try await PeerLink.withLink(from: endpoint, options) { link in
            let greeting: ConsumerSession.Greeting =
                switch (link.direction, endpoint) {
                case (.oneWay, _): .never
                case (.twoWay, .standardStreams): .ifAsked
                case (.twoWay, _): .atOnce
                }
            return try await body(link, greeting)
        }
    }
}
