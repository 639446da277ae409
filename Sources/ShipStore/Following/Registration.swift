/// A wish to be called, which `Registrations` keeps. It ends with its last reference.
final class Registration: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
