import ShipCompression

/// The cost of decoding a part, and what has paid for that: a few bytes could ask for hours.
///
/// There is one for each part. It is also where a decoder stops that takes too long, or whose result nobody waits for.
///
/// Source: `Protocol/COLUMNS.md` 2, "Work", and `Protocol/DELTA.md` 8.
package final class DecodingWork {
    // What a part may spend before anything has paid for it, and what pays for how much.
    package static let free = 268_435_456
    private static let (perByte, perByteOfBase) = (128, 32)

    // What each step costs beside the bytes or values that it goes through.
    static let item = 256
    static let encoding = 16
    static let row = 16
    static let step = 64
    static let wordByte = 4
    static let deflatedStream = 1024
    static let deflatedByte = 8

    /// The cost of going to another place of a file.
    static func move(pageSize: Int) -> Int { 256 + pageSize / 16 }

    /// The cost of jumping over rows: forward if they are more than 0.
    static func jump(over rows: Int, pageSize: Int) -> Int {
        let most = move(pageSize: pageSize)
        return rows < 0 ? most : min(most, step + row * min(rows, most))
    }

    /// The most that it costs to go through the rows of a leaf: each takes 6 bytes of it, or more.
    static func leaf(pageSize: Int) -> Int { (row / 6 + 2) * pageSize }

    /// How much work is done between two looks at the clock: some milliseconds.
    private static let stretch = 1 << 20
    private let limits: DecodingLimits
    private(set) var left: Int
    /// In all.
    private(set) var spent = 0
    private var untilLook = stretch
    private var isBasePaid = false
    private var bytesToNote: Int64 = 0
    private var start: ContinuousClock.Instant?
    /// Why the decoder was interrupted: its result is no longer wanted. The segment may be sound.
    private(set) var interruption: (any Error)?

    /// - Parameter free: What may be spent before anything has paid for it.
    package init(_ limits: DecodingLimits = DecodingLimits(), free: Int = DecodingWork.free) {
        self.limits = limits
        left = free
    }

    /// Whether there is enough left to spend that.
    func has(_ units: Int) -> Bool { units <= left }

    /// Decoders call it before they do the work.
    ///
    /// - Throws: `.damaged(.work)`, also after an `interruption`.
    func spend(_ units: Int) throws(CompressionError) {
        guard units <= left else { throw .damaged(.work) }
        left -= units
        spent += units
        untilLook -= units
        if untilLook < 0 { try look() }
    }

    /// More of the part has come, or has been made.
    func pay(bytes: Int) {
        left += bytes * Self.perByte
        bytesToNote += Int64(bytes)
    }

    /// The base that a delta refers to.
    func pay(base: Int64) {
        guard !isBasePaid else { return }
        isBasePaid = true
        left += Int(clamping: min(base, 1 << 48)) * Self.perByteOfBase
    }

    private func look() throws(CompressionError) {
        untilLook = Self.stretch
        do {
            try limits.interrupt()
        } catch {
            interruption = error
            throw .damaged(.work)
        }
        guard note() else { throw .damaged(.work) }
    }

    /// Tells the clock how long the work took since the last time, and for how many bytes.
    ///
    /// - Returns: Whether there is time left.
    private func note() -> Bool {
        guard let clock = limits.clock, let start else { return true }
        let now = ContinuousClock.now
        self.start = now
        defer { bytesToNote = 0 }
        return clock.add(now - start, for: bytesToNote)
    }

    /// Takes a segment, and measures the time.
    ///
    /// - Throws: What the decoder throws, or the `interruption`.
    func measuring(segment: [UInt8], _ decode: () throws -> Void) throws {
        pay(bytes: segment.count)
        try measuring(decode)
    }

    func measuring(_ decode: () throws -> Void) throws {
        start = .now
        defer { _ = note() }
        do {
            try decode()
        } catch {
            throw interruption ?? error
        }
    }
}
