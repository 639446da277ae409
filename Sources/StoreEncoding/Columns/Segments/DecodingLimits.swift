/// The limits of a decoder beside the work that its part pays for.
package struct DecodingLimits: Sendable {
    /// `nil` for any time.
    let clock: DecodingClock?
    /// Throws if its result is no longer wanted.
    package let interrupt: @Sendable () throws -> Void

    package init(clock: DecodingClock? = nil, interrupt: @escaping @Sendable () throws -> Void = {}) {
        self.clock = clock
        self.interrupt = interrupt
    }
}
