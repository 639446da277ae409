import EssentialFoundation
public import ShipLinks
public import ShipProtocol
public import SystemPackage

extension Consumer {
    /// Receives what is published, by way of an app that fetches the files itself, as `URLSession` does.
    ///
    /// - Parameters:
    ///   - place: The publication's URL, under which it is remembered which heads were there.
    ///   - report: Told of what happens, as it does.
    ///   - fetch: Fetches a file, and returns where it is on this device, or `nil` if the server says that there is none. The file is read, and
    ///     stays. What this throws ends the receiving; a `CancellationError` does if the file is still to come.
    /// - Returns: A receipt for each store.
    /// - Throws: Why the first store that failed did. The others are installed nevertheless; `report` gets each error.
    public func receive(
        published place: Endpoint, report: @escaping @Sendable (ReceiveReport) -> Void = { _ in },
        fetching fetch: @escaping @Sendable (PublishedFile) async throws -> FilePath?
    ) async throws(ShipmentError) -> [Receipt] {
        return try await ShipmentError.awaiting {
            try await receive(published: FetchedPublication(place: place, fetch: fetch), at: place, report: report)
        }
    }

    /// Receives what is published.
    package func receive(
        published reader: any PublicationReader, at place: Endpoint,
        report: @escaping @Sendable (ReceiveReport) -> Void
    ) async throws -> [Receipt] {
        let start = ContinuousClock.now
        let (receipts, failures) = try await Subscription(
            self, to: reader, at: place, following: false, report: report
        ).look()
        for receipt in receipts where receipt.outcome == .unchanged {
            report(ReceiveReport(.finished(receipt, .now - start)))
        }
        if let failure = failures.first { throw failure }
        return receipts
    }

    /// Between two looks.
    private static let leastInterval = Duration.milliseconds(100)

    /// Receives what is published, and each change of it, until the task is cancelled.
    ///
    /// - Throws: Why there is no use in another attempt.
    package func follow(
        published reader: any PublicationReader, at place: Endpoint, every interval: Duration, keepsTrying: Bool,
        report: @escaping @Sendable (ReceiveReport) -> Void
    ) async throws {
        let attempts = Attempts(keepsTrying: keepsTrying) { report(ReceiveReport(.disconnected($0))) }
        let subscription = Subscription(self, to: reader, at: place, report: report)
        while true {
            let start = ContinuousClock.now
            do {
                for receipt in try await subscription.look().receipts where receipt.outcome == .unchanged {
                    report(ReceiveReport(.finished(receipt, .now - start)))
                }
                attempts.succeeded()
            } catch {
                try await attempts.rest(after: ShipmentError(error))
                continue
            }
            // All devices of a fleet do not ask at the same moment.
            let pause = max(Self.leastInterval, interval.bounded) * Double.random(in: 0.9...1.1)
            try await Task.sleep(for: max(.zero, pause - (.now - start)))
        }
    }
}
