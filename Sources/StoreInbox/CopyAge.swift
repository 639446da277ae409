/// How old the current generation of a store is: since when there may be commits of the source that it has not.
public struct CopyAge: Hashable, Sendable {
    /// How long ago this device asked the source, and the source had nothing newer; `nil` if that is unknown, as after a start of the
    /// system, or once a clock was set back: then it counts as too old.
    public let age: Duration?
    /// Whether a receiver has a session with the source now, and can ask it.
    public let isConnected: Bool

    package init(age: Duration?, isConnected: Bool) { (self.age, self.isConnected) = (age, isConnected) }

    /// Whether everything is there that was committed before that time.
    public func isWithin(_ limit: Duration) -> Bool { age.map { $0 <= limit } ?? false }
}
