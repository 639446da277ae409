/// How soon the other side answers. Where it had something to do first it took longer than the link: the shortest counts.
struct RoundTrip {
    private(set) var shortest = Duration.seconds(3600)
    private var start = ContinuousClock.now

    /// Something is being sent that will be answered.
    mutating func begin() { start = .now }

    /// The answer is here.
    mutating func end() { shortest = min(shortest, .now - start) }
}
