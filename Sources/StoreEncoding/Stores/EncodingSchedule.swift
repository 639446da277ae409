/// Decides when segments of a store are read, encoded, checked and delivered: events in, actions out. It does no work itself.
///
/// Segments are read one after the other and encoded in parallel. They are delivered and checked in the order in which they were read.
struct EncodingSchedule {
    /// The caller's next action. It waits for `deliver`, and begins the others as tasks.
    enum Action: Hashable {
        case read
        /// Encode the segment that was read last. It gets this index.
        case encode(Int)
        case check(Int)
        case deliver(Int)
    }

    /// Most delivered segments that wait for their check.
    private static let mostUnchecked = 4
    /// Most segments that are encoded while the link is on trial. They show its pace; more may be discarded.
    private static let mostOnTrial = 3

    private let checks: Bool
    private var isReading = false
    private var isAtEnd = false
    private var isChecking: Bool
    /// Whether a segment has been read whose encoding has not begun.
    private var hasRead = false
    /// Counts of segments whose encoding began, that are encoded, that are delivered or due, and whose check began.
    private var (begun, encoded, delivered, checked) = (0, 0, 0, 0)
    /// Encoded segments that are not due.
    private var early: Set<Int> = []
    /// The segment that is delivered after everything has begun that can go on beside the delivery.
    private var due: Int?

    /// - Parameters:
    ///   - checks: Whether each segment is checked.
    ///   - isChecking: Whether a check is under way from the start.
    init(checks: Bool, isChecking: Bool) {
        self.checks = checks
        self.isChecking = isChecking
    }

    // MARK: Events

    /// - Parameter isAtEnd: Whether there was no further segment.
    mutating func didRead(isAtEnd: Bool) {
        isReading = false
        self.isAtEnd = isAtEnd
        hasRead = !isAtEnd
    }

    mutating func didEncode(_ index: Int) {
        encoded += 1
        early.insert(index)
    }

    mutating func didCheck() { isChecking = false }

    // MARK: Actions

    /// The next action.
    ///
    /// - Parameters:
    ///   - isLinkSlow: Whether sending a segment takes longer than encoding the next.
    ///   - isOnTrial: Whether the pace of the link is not known, so that all segments may be discarded soon.
    /// - Returns: `nil` if nothing can be done before the next event.
    mutating func next(isLinkSlow: Bool, isOnTrial: Bool) -> Action? {
        if due == nil, early.remove(delivered) != nil {
            due = delivered
            delivered += 1
        }
        // On a slow link, one segment is encoded while the one before is sent: more would only take memory.
        if hasRead, begun == encoded || !isLinkSlow {
            hasRead = false
            begun += 1
            return .encode(begun - 1)
        }
        let unchecked = checks ? delivered - checked : 0
        let isEnoughForTrial = isOnTrial && begun >= Self.mostOnTrial && delivered < begun
        if !isEnoughForTrial, unchecked < Self.mostUnchecked, !hasRead, !isReading, !isAtEnd {
            isReading = true
            return .read
        }
        let canCheckWait = isOnTrial && unchecked < Self.mostUnchecked && !isAtEnd
        if !isChecking, unchecked > 0, !canCheckWait {
            isChecking = true
            checked += 1
            return .check(checked - 1)
        }
        defer { due = nil }
        return due.map(Action.deliver)
    }
}
