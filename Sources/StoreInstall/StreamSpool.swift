package import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// The part of a shipment that stays when the link breaks, and waits for the rest.
extension StagedGeneration {
    /// Data of a part are to come.
    ///
    /// - Parameter earlier: Whether they go on from `earlierStream`; else that is of no use any more.
    package func open(part index: Int, _ encoding: PartEncoding, over base: ContentDigest?, after earlier: Bool) {
        if !earlier, earlierStream != nil || keeping?.isInFile == true { removeStream() }
        let header = PartStream.Header(encoding, of: manifest.parts[index], over: base)
        if earlier, let earlierStream {
            keeping = StreamSpool(earlierStream, in: workingRoom)
        } else if mayWait {
            keeping = StreamSpool(header, in: workingRoom, settle: { [unowned self] in try syncRecord() }) {
                [unowned self] in
                try makeStream($0)
            }
        }
        earlierStream = nil
    }

    /// The data of one DATA have been taken, or the rest of what an earlier session had of it.
    package func keep(_ data: [UInt8], isRest: Bool = false) {
        if isRest { keeping?.addRest(data) } else { keeping?.add(data) }
    }

    /// Ends the stream of the open part: the part is complete, or dropped.
    ///
    /// - Parameter index: Of the part, if it is complete.
    package func endStream(complete index: Int? = nil) {
        defer { keeping = nil }
        if let index, mayWait, keeping?.isInFile != true { count(manifest.parts[index].size) }
        guard keeping?.isInFile == true else { return }
        // From here on the part stands for its stream.
        if let index { try? folder.file(at: path(ofPart: index)).sync() }
        removeStream()
    }

    /// The link is broken: what has come stays, if it is worth it.
    ///
    /// - Parameter cut: Of the data of a DATA that was on its way, what is here, and how many they were to be.
    package func breakOff(_ cut: (bytes: [UInt8], size: Int)?) {
        guard mayWait else { return }
        closePart()
        if let earlierStream, keeping == nil { keeping = StreamSpool(earlierStream, in: workingRoom) }
        let isKept = keeping?.cut(cut?.bytes, of: cut?.size ?? 0) ?? false
        let whole = keepWholeParts()
        if !hasRecord, whole >= StreamSpool.least { try? writeRecord() }
        waits = hasRecord && (isKept || whole > 0)
        (keeping, earlierStream) = (nil, nil)
        // The next session may take it.
        lock = nil
    }

    /// A part has come at once: many of them are worth a record as well.
    private func count(_ size: Int64) {
        countAtOnce += size
        guard !hasRecord, countAtOnce >= StreamSpool.mostInMemory else { return }
        // A shipment without a record comes again.
        try? writeRecord()
    }

    /// Removes parts whose sizes say that they are incomplete: they are made anew from their stream.
    ///
    /// - Returns: Bytes of the others.
    private func keepWholeParts() -> Int64 {
        manifest.parts.indices.filter { !linkedParts.contains($0) }.reduce(0) { sum, index in
            let path = path(ofPart: index)
            guard let size = (try? folder.status(of: path))?.size else { return sum }
            if size == manifest.parts[index].size { return sum + size }
            try? folder.removeFile(path)
            return sum
        }
    }

    private func makeStream(_ header: PartStream.Header) throws(FileError) -> PartStream {
        try writeRecord()
        return try PartStream(header, at: path.appending(InboxLayout.streamFile), in: folder)
    }

    private func removeStream() {
        let path = path.appending(InboxLayout.streamFile)
        if folder.holds(path) { try? folder.removeFile(path) }
    }

    /// From here on this is what waits of the store, and nothing else does.
    func writeRecord() throws(FileError) {
        let record = WaitingRecord(producer: sender.device)
        try replace(manifest.jsonBytes, as: InboxLayout.manifestFile)
        try replace(record.jsonBytes, as: InboxLayout.waitingFile)
        hasRecord = true
        inbox.removeWaitingShipments(of: manifest.name, except: path)
    }

    func syncRecord() throws(FileError) {
        for name in [InboxLayout.manifestFile, InboxLayout.waitingFile] {
            try folder.file(at: path.appending(name)).sync()
        }
        try folder.sync(path)
        try inbox.files.sync(path.removingLastComponent())
    }

    func removeRecord() throws(FileError) {
        (keeping, earlierStream) = (nil, nil)
        for name in [InboxLayout.streamFile, InboxLayout.waitingFile, InboxLayout.manifestFile] {
            let path = path.appending(name)
            if folder.holds(path) { try folder.removeFile(path) }
        }
        hasRecord = false
    }

    /// Writes a file beside what is there, and then in its place.
    private func replace(_ bytes: [UInt8], as name: String) throws(FileError) {
        let aside = path.appending(name + ".new")
        if folder.holds(aside) { try folder.removeFile(aside) }
        let file = try folder.makeFile(at: aside)
        try file.write(bytes)
        try folder.rename(aside, to: path.appending(name))
    }
}

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

    /// Whether there is a file.
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
