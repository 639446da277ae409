extension Duration {
    /// As long as a wait may be, 136 years: Swift's clocks end the process where the present time and a wait are more than they hold.
    package var bounded: Duration { min(self, .seconds(1 << 32)) }
}
