/// The message that the other side did not send in time, and that time.
public enum Overdue: Hashable, Sendable {
    /// The producer has not said what it sends.
    case manifest(Duration)
    /// The consumer has not said whether it takes the shipment.
    case answer(Duration)
    /// The consumer has not said what its copy has in common with the store.
    case comparison(Duration)
    /// The consumer has everything, and has not installed it.
    case receipt(Duration)
}
