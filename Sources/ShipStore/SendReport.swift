/// An event while a producer serves receivers, and its session.
public struct SendReport: Hashable, Sendable {
    public let event: SendEvent
    /// `nil` for events of the listener itself, and of connections that do not reach a session.
    public let session: Session?

    package init(_ event: SendEvent, in session: Session? = nil) {
        self.event = event
        self.session = session
    }

    /// One receiver's connection. Several may be open side by side.
    public struct Session: Hashable, Sendable {
        /// From 1 on, in the order in which receivers connected.
        public let number: Int
        /// The receiver.
        public let peer: String

        package init(number: Int, peer: String) { (self.number, self.peer) = (number, peer) }
    }
}
