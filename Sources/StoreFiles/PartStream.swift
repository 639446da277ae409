import Crypto
package import ShipProtocol
import Synchronization
package import SystemPackage

/// The stream of a part as far as it has gone over a link, in a file: so that it need not go again where the link breaks. Either side
/// keeps one of the part that is open.
///
///     0   8 bytes   magic
///     8   1 byte    encoding
///     9   32 bytes  SHA-256 of the part
///     41  8 bytes   its size
///     49  32 bytes  SHA-256 of what the encoding refers to, or zeros
///     81  the data of one DATA after the other, each behind its size (4 bytes) and a note of its encoder (8 bytes); of the last one there
///         may be fewer bytes than its size says
///
/// What is in it is proven by nothing but the digest of the part that is made of it. Positions are those of `Protocol/README.md` section 3.3:
/// they count data and sizes.
package final class PartStream: Sendable {
    /// What the file is the stream of.
    package struct Header: Hashable, Sendable {
        package let encoding: PartEncoding
        package let sha256: ContentDigest
        /// In bytes.
        package let size: Int64
        /// What the encoding refers to.
        package let base: ContentDigest?

        package init(_ encoding: PartEncoding, of part: Manifest.Part, over base: ContentDigest? = nil) {
            self.encoding = encoding
            sha256 = part.sha256
            size = part.size
            self.base = encoding.needsBase ? base : nil
        }
    }

    /// The data of one DATA.
    package struct Entry: Hashable, Sendable {
        /// What its encoder needs to go on after it.
        package let note: UInt64
        /// As it went, in bytes.
        package let size: Int
        /// How much of it is here.
        package fileprivate(set) var count: Int
        fileprivate let offset: Int64

        package var isWhole: Bool { count == size }
    }

    /// Most DATA of which a stream is kept; the longer one is not gone on with.
    package static let mostEntries = 1 << 16

    private static let magic: [UInt8] = [0x89] + Array("STREAM".utf8) + [1]
    private static let headerSize = 81
    private static let entryHeaderSize = 12
    private static let sizeSize: Int64 = 4
    private static let longestData = Limits.segmentSize

    private struct State: ~Copyable {
        let file: OpenFile
        var entries: [Entry] = []
        /// Of the file, in bytes.
        var end = Int64(PartStream.headerSize)
        var position: Int64 = 0

        mutating func add(_ entry: Entry) {
            entries.append(entry)
            end = entry.offset + Int64(entry.count)
            position += PartStream.sizeSize + Int64(entry.count)
        }
    }

    package let header: Header
    private let state: Mutex<State>

    private init(_ header: Header, _ file: consuming OpenFile) {
        self.header = header
        state = Mutex(State(file: file))
    }

    /// Makes the file, which must not be there yet.
    package convenience init(
        _ header: Header, at path: FilePath, in folder: borrowing OpenFolder
    ) throws(FileError) {
        try self.init(header, writing: try folder.makeFile(at: path))
    }

    /// - Parameter file: An empty one, open for writing.
    package convenience init(_ header: Header, writing file: consuming OpenFile) throws(FileError) {
        let fields = [header.encoding.rawValue] + header.sha256.bytes + Self.bytes(of: UInt64(header.size))
        try file.write(Self.magic + fields + (header.base?.bytes ?? Array(repeating: 0, count: 32)), at: 0)
        self.init(header, file)
    }

    /// Opens what an earlier process may have written.
    ///
    /// - Returns: `nil` for a file that is no stream. What is damaged at its end is left out.
    package convenience init?(at path: FilePath, in folder: borrowing OpenFolder) throws(FileError) {
        try self.init(going: try folder.fileToChange(at: path))
    }

    /// - Parameter file: Open for reading and writing.
    package convenience init?(going file: consuming OpenFile) throws(FileError) {
        let size = try file.size
        let fields = try file.read(Self.headerSize, at: 0)
        guard fields.count == Self.headerSize, fields.starts(with: Self.magic),
            let encoding = PartEncoding(rawValue: fields[8]), let sha256 = ContentDigest(bytes: Array(fields[9..<41])),
            let base = ContentDigest(bytes: Array(fields[49..<81]))
        else { return nil }
        let partSize = Self.number(in: fields[41..<49])
        guard partSize <= UInt64(Limits.partSize) else { return nil }
        let header = Header(
            encoding, of: Manifest.Part(size: Int64(partSize), sha256: sha256), over: encoding.needsBase ? base : nil)
        var found = State(file: file)
        while found.entries.count < Self.mostEntries, found.end + Int64(Self.entryHeaderSize) < size {
            let fields = try found.file.read(Self.entryHeaderSize, at: found.end)
            let length = Int(Self.number(in: fields.prefix(4)))
            guard fields.count == Self.entryHeaderSize, (1...Self.longestData).contains(length) else { break }
            let offset = found.end + Int64(Self.entryHeaderSize)
            let count = Int(min(Int64(length), size - offset))
            found.add(Entry(note: Self.number(in: fields.dropFirst(4)), size: length, count: count, offset: offset))
        }
        self.init(header, found)
    }

    private init(_ header: Header, _ state: consuming State) {
        self.header = header
        self.state = Mutex(state)
    }

    /// As far as it is here.
    package var position: Int64 { state.withLock { $0.position } }
    package var entries: [Entry] { state.withLock { $0.entries } }
    /// Of the file, in bytes.
    package var fileSize: Int64 { state.withLock { $0.end } }

    /// The data of one DATA follow; or the beginning of them, and then nothing more may.
    ///
    /// - Parameter size: What all of them have, in bytes.
    /// - Throws: `.fileTooLarge` beyond `mostEntries`.
    package func append(_ data: [UInt8], of size: Int, note: UInt64 = 0) throws(FileError) {
        try state.withLock { state throws(FileError) in
            guard state.entries.count < Self.mostEntries, state.entries.last?.isWhole != false else {
                throw FileError(.write, state.file.path, .fileTooLarge)
            }
            let head = Self.bytes(of: UInt64(size)).suffix(4) + Self.bytes(of: note)
            try state.file.write(head + data, at: state.end)
            let offset = state.end + Int64(Self.entryHeaderSize)
            state.add(Entry(note: note, size: size, count: data.count, offset: offset))
        }
    }

    /// More comes of the last DATA, of which there was the beginning.
    ///
    /// - Throws: `.invalidArgument` for more than was missing.
    package func extend(with more: [UInt8]) throws(FileError) {
        try state.withLock { state throws(FileError) in
            guard var last = state.entries.popLast() else {
                throw FileError(.write, state.file.path, .invalidArgument)
            }
            defer { state.entries.append(last) }
            guard more.count <= last.size - last.count else {
                throw FileError(.write, state.file.path, .invalidArgument)
            }
            try state.file.write(more, at: last.offset + Int64(last.count))
            last.count += more.count
            state.end += Int64(more.count)
            state.position += Int64(more.count)
        }
    }

    /// Lets go of the last DATA, or of what there is of it.
    package func dropLast() throws(FileError) {
        try state.withLock { state throws(FileError) in
            guard let last = state.entries.popLast() else { return }
            state.end = last.offset - Int64(Self.entryHeaderSize)
            state.position -= Self.sizeSize + Int64(last.count)
            try state.file.truncate(to: state.end)
        }
    }

    /// - Returns: What is here of the data of DATA number `index`.
    package func data(_ index: Int) throws(FileError) -> [UInt8] {
        try state.withLock { state throws(FileError) in
            guard state.entries.indices.contains(index) else { return [] }
            let entry = state.entries[index]
            let data = try state.file.read(entry.count, at: entry.offset)
            guard data.count == entry.count else { throw FileError(.read, state.file.path, .ioError) }
            return data
        }
    }

    /// Where a position is in the entries.
    ///
    /// - Returns: How many DATA lie before it as a whole, and how many bytes of the next one; `nil` if it is no position, or beyond the end.
    package func place(of position: Int64) -> (whole: Int, bytes: Int)? {
        var (whole, start) = (0, Int64(0))
        for entry in entries {
            if position == start { return (whole, 0) }
            let first = start + Self.sizeSize
            let end = first + Int64(entry.count)
            if position < end || position == end && !entry.isWhole {
                return position > first ? (whole, Int(position - first)) : nil
            }
            (whole, start) = (whole + 1, end)
        }
        return position == start ? (whole, 0) : nil
    }

    /// SHA-256 of the stream before a position; `nil` if it is none.
    ///
    /// - Throws: `.canceled` with its task.
    package func digest(upTo position: Int64) throws(FileError) -> ContentDigest? {
        guard let (whole, bytes) = place(of: position) else { return nil }
        var hash = SHA256()
        let entries = entries
        for index in 0..<(bytes == 0 ? whole : whole + 1) {
            if Task.isCancelled { throw FileError(.read, path, .canceled) }
            let data = try data(index)
            hash.update(data: Self.bytes(of: UInt64(entries[index].size)).suffix(Int(Self.sizeSize)))
            hash.update(data: index == whole ? data.prefix(bytes) : data[...])
        }
        return ContentDigest(sha256: Array(hash.finalize()))
    }

    package func sync() throws(FileError) {
        try state.withLock { state throws(FileError) in try state.file.sync() }
    }

    package var path: FilePath { state.withLock { $0.file.path } }

    private static func bytes(of number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    private static func number(in bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
