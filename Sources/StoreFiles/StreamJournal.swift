import SystemPackage

/// Records the stream of the open part in case the link breaks: in memory while it is short and new, then in a file.
///
/// A receiver has one for each part, a sender one for all parts of a shipment. No failure here fails a shipment: data that cannot be
/// recorded end the record of the part.
package struct StreamJournal: Sendable {
    /// Returns whether the file may take so many bytes more, and counts them.
    package typealias Growth = @Sendable (Int64) -> Bool

    /// Less than this is not worth a file, in bytes: to send it again costs less.
    package static let least = 64 * 1024
    /// Within this time data stay in memory, unless they are more than `mostInMemory` bytes: most shipments are over then.
    private static let grace = Duration.milliseconds(500)
    package static let mostInMemory = 2 * 1024 * 1024
    private static let syncPause = Duration.seconds(1)

    private let start: ContinuousClock.Instant
    private var header: PartStream.Header?
    private var pieces: [(data: [UInt8], note: UInt64)] = []
    private var size = 0
    /// `nil` as long as the data are in memory.
    private var file: (stream: PartStream, mayGrow: Growth)?
    /// Whether data could not be recorded: then no data are recorded until another part is opened.
    private var isAtEnd = false
    /// Whether it is durable whose the file is.
    private var isSettled = false
    private var lastSync: ContinuousClock.Instant

    /// - Parameter header: Of the open part; `nil` if none is open yet.
    package init(_ header: PartStream.Header? = nil, at start: ContinuousClock.Instant = .now) {
        self.header = header
        (self.start, lastSync) = (start, start)
    }

    /// Goes on with a file that an earlier session has settled.
    package init(goingOnWith stream: PartStream, growing mayGrow: @escaping Growth) {
        self.init()
        (file, isSettled) = ((stream, mayGrow), true)
    }

    /// Whether the stream is in a file, as far as it goes.
    package var isInFile: Bool { file != nil && !isAtEnd }

    /// Whether what is in memory, and so many bytes more, are worth a file.
    package func isWorthFile(with more: Int = 0) -> Bool { file == nil && !isAtEnd && size + more >= Self.least }

    /// A part is opened at its beginning. Its data stay in memory until `enter`.
    package mutating func begin(_ header: PartStream.Header) {
        (self.header, pieces, size) = (header, [], 0)
        (file, isAtEnd, isSettled) = (nil, false, false)
    }

    /// Records the data of one DATA, or the rest of one that was cut.
    ///
    /// - Returns: Whether `enter` is due.
    package mutating func add(_ data: [UInt8], note: UInt64 = 0) -> Bool {
        guard file == nil, !isAtEnd else {
            append(data, of: data.count, note: note)
            return false
        }
        pieces.append((data, note))
        size += data.count
        return isWorthFile() && (.now - start >= Self.grace || size >= Self.mostInMemory)
    }

    /// Makes the file of the open part, and enters what is in memory.
    package mutating func enter(growing mayGrow: @escaping Growth, _ make: (PartStream.Header) throws -> PartStream?) {
        defer { pieces = [] }
        guard let header, let stream = try? make(header) else {
            isAtEnd = true
            return
        }
        file = (stream, mayGrow)
        for (data, note) in pieces { append(data, of: data.count, note: note) }
    }

    /// Appends to the file: the data of one DATA, or as many as have come of them, or the rest of one that was cut.
    ///
    /// - Parameter size: Of all the data, in bytes.
    package mutating func append(_ data: [UInt8], of size: Int, note: UInt64 = 0) {
        attempt { stream, mayGrow in
            let isRest = stream.entries.last?.isWhole == false
            let growth = data.count + (isRest ? 0 : PartStream.entryHeaderSize)
            guard mayGrow(Int64(growth)) else { throw FileError(.write, stream.path, .noSpace) }
            if isRest { try stream.extend(with: data) } else { try stream.append(data, of: size, note: note) }
        }
    }

    /// Syncs the file if that is due. A sender never syncs its own: what a power cut takes of it goes again.
    ///
    /// - Parameter settle: Makes durable whose the file is; called before the first sync.
    package mutating func syncIfDue(_ settle: () throws -> Void) {
        if .now - lastSync >= Self.syncPause { sync(settle) }
    }

    package mutating func sync(_ settle: () throws -> Void) {
        guard isInFile else { return }
        attempt { [isSettled] stream, _ in
            if !isSettled { try settle() }
            try stream.sync()
        }
        (isSettled, lastSync) = (true, .now)
    }

    private mutating func attempt(_ body: (PartStream, Growth) throws -> Void) {
        guard !isAtEnd, let file else { return }
        do { try body(file.stream, file.mayGrow) } catch { isAtEnd = true }
    }
}
