public import EssentialFoundation
public import ShipProtocol

/// An error that says what happened, to what: also as the `localizedDescription` that an app shows.
public protocol ExplainedError: LocalizedError {
    /// Lower case, no full stop; fit for a terminal, whatever the other side wrote.
    var cause: PrintableText { get }
}

extension ExplainedError {
    public var errorDescription: String? { cause.text }
    // FoundationEssentials has no defaults for these.
    public var failureReason: String? { nil }
    public var recoverySuggestion: String? { nil }
    public var helpAnchor: String? { nil }
}
