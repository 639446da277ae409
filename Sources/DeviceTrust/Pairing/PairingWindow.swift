import Synchronization

/// The time in which one device that has the code may pair: two minutes, and five tries.
public final class PairingWindow: Sendable {
    public static let duration = Duration.seconds(120)
    public static let tries = 5

    public let code: PairingCode
    /// What to call the device that pairs; `nil` for what it calls itself.
    package let name: PeerName?
    private let deadline: ContinuousClock.Instant

    private let state = Mutex((triesLeft: PairingWindow.tries, triesUnderWay: 0, isClosed: false))

    public convenience init(calling name: PeerName? = nil) {
        self.init(PairingCode(), lasting: Self.duration, calling: name)
    }

    package init(_ code: PairingCode, lasting duration: Duration, calling name: PeerName? = nil) {
        (self.code, self.name) = (code, name)
        deadline = .now + duration
    }

    /// Whether another try may begin.
    package var isOpen: Bool { state.withLock { !$0.isClosed && $0.triesLeft > 0 } && .now < deadline }

    /// Whether no device can pair any more: no further try may begin, and none is under way.
    private var isOver: Bool { !isOpen && state.withLock { $0.triesUnderWay == 0 } }

    /// One try to pair. It ends when its last reference is released.
    package final class Try: Sendable {
        private let window: PairingWindow

        fileprivate init(_ window: PairingWindow) { self.window = window }

        deinit { window.state.withLock { $0.triesUnderWay -= 1 } }

        package var code: PairingCode { window.code }
    }

    /// - Returns: `nil` when no further try may begin.
    package func takeTry() -> Try? {
        guard .now < deadline else { return nil }
        let isTaken = state.withLock { state in
            guard !state.isClosed, state.triesLeft > 0 else { return false }
            state.triesLeft -= 1
            state.triesUnderWay += 1
            return true
        }
        return isTaken ? Try(self) : nil
    }

    /// - Returns: Whether the window was not closed before: of two devices that have the code, only one may pair.
    package func close() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.isClosed = true
            return true
        }
    }

    /// Returns when no device can pair any more, or the task is cancelled.
    package func waitUntilOver() async {
        while !isOver, (try? await Task.sleep(for: .milliseconds(100))) != nil {}
    }
}

/// The code that one user shows and the other types, once, so that their devices trust each other: six digits.
public struct PairingCode: Hashable, Sendable {
    private static let digits = 6

    /// Six ASCII digits.
    let bytes: [UInt8]

    /// A new one.
    public init() {
        bytes = (0..<Self.digits).map { _ in UInt8.random(in: UInt8(ascii: "0")...UInt8(ascii: "9")) }
    }

    /// Reads a code with or without spaces and dashes.
    ///
    /// - Returns: `nil` unless there are six digits.
    public init?(_ text: String) {
        let characters = text.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
        guard characters.count == Self.digits,
            characters.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        bytes = Array(characters)
    }

    /// `482-913`.
    public var text: String {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.prefix(Self.digits / 2) + "-" + text.suffix(Self.digits / 2)
    }
}
