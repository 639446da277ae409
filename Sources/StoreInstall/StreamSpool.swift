import StoreFiles

/// Keeps the stream of the part that is coming in, in case the link breaks: in memory while it is short and new, then in a file,
/// which is synced at most once a second.
///
/// An error here never fails a shipment: data that cannot be kept are sent again.
final class StreamSpool {
    /// Less than this is not worth a file, in bytes.
    static let least = 64 * 1024
    /// Within this time data are not written to a file, unless there are more than `mostInMemory` bytes of them: most shipments
    /// take less time.
    private static let grace = Duration.milliseconds(500)
    static let mostInMemory = 2 * 1024 * 1024
    private static let syncPause = Duration.seconds(1)

    private let header: PartStream.Header
    private let room: GrowingReservation
    /// Makes the file, beside what says whose it is.
    private let make: (PartStream.Header) throws -> PartStream
    /// Makes durable what says whose it is.
    private let settle: () throws -> Void
    private var isSettled = false
    private var stream: PartStream?
    private var short: [[UInt8]] = []
    private var shortCount = 0
    private var isOver = false
    private let start = ContinuousClock.now
    private var lastSync = ContinuousClock.now
    /// Bytes of the file that are counted.
    private var counted: Int64 = 0

    /// - Parameters:
    ///   - room: What the bytes of the file are counted in.
    ///   - make: Makes the file.
    ///   - settle: Called before the file is synced for the first time.
    init(
        _ header: PartStream.Header, in room: GrowingReservation, settle: @escaping () throws -> Void,
        make: @escaping (PartStream.Header) throws -> PartStream
    ) {
        self.header = header
        self.room = room
        self.make = make
        self.settle = settle
    }

    /// Goes on with one that an earlier session kept.
    init(_ stream: PartStream, in room: GrowingReservation) {
        header = stream.header
        self.room = room
        self.stream = stream
        make = { _ in stream }
        settle = {}
    }

    deinit { room.giveBack(counted) }

    var isInFile: Bool { stream != nil && !isOver }

    /// The data of one DATA have come.
    func add(_ data: [UInt8]) {
        attempt {
            guard let stream else {
                short.append(data)
                shortCount += data.count
                let isNew = .now - start < Self.grace && shortCount < Self.mostInMemory
                if shortCount >= Self.least, !isNew { try beginFile() }
                return
            }
            try append(data, of: data.count, to: stream)
            try syncIfDue(stream)
        }
    }

    /// The rest has come of the one that was cut.
    func addRest(_ rest: [UInt8]) {
        attempt {
            guard let stream else { return }
            try count(rest.count)
            try stream.extend(with: rest)
            try syncIfDue(stream)
        }
    }

    /// Nothing more comes now: of the next DATA there is no more than this.
    ///
    /// - Parameter size: What it was to have.
    /// - Returns: Whether something waits.
    func cut(_ data: [UInt8]?, of size: Int) -> Bool {
        attempt {
            if stream == nil, shortCount + (data?.count ?? 0) >= Self.least { try beginFile() }
            guard let stream else { return }
            if let data, stream.entries.last?.isWhole == false {
                // The rest of one that was cut has been cut as well.
                try count(data.count)
                try stream.extend(with: data)
            } else if let data {
                try append(data, of: size, to: stream)
            }
            try sync(stream)
        }
        return isInFile
    }

    private func beginFile() throws {
        let stream = try make(header)
        self.stream = stream
        for data in short { try append(data, of: data.count, to: stream) }
        short = []
    }

    private func append(_ data: [UInt8], of size: Int, to stream: PartStream) throws {
        try count(data.count)
        try stream.append(data, of: size)
    }

    private func count(_ bytes: Int) throws {
        try room.take(Int64(bytes))
        counted += Int64(bytes)
        room.wrote(Int64(bytes))
    }

    private func syncIfDue(_ stream: PartStream) throws {
        if .now - lastSync >= Self.syncPause { try sync(stream) }
    }

    private func sync(_ stream: PartStream) throws {
        if !isSettled { try settle() }
        isSettled = true
        try stream.sync()
        lastSync = .now
    }

    private func attempt(_ body: () throws -> Void) {
        guard !isOver else { return }
        do {
            try body()
        } catch {
            (isOver, short) = (true, [])
        }
    }
}
