import Crypto
package import ShipProtocol
import Synchronization
package import SystemPackage

/// A file with the stream of a part up to the point that it has gone over a link, so that it need not go again if the link breaks. Each
/// side keeps one of the open part.
///
///     0   8 bytes   magic
///     8   1 byte    encoding
///     9   32 bytes  SHA-256 of the part
///     41  8 bytes   its size
///     49  32 bytes  SHA-256 of the base of the encoding, or zeros
///     81  the data of each DATA, after their size (4 bytes) and a note of the encoder (8 bytes); the last data may be incomplete
///
/// Only the digest of the part that is made of it proves its content. Positions are those of `Protocol/README.md` section 3.3: they count
/// data and sizes.
package final class PartStream: Sendable {
    /// The part and the encoding of the stream.
    package struct Header: Hashable, Sendable {
        package let encoding: PartEncoding
        package let sha256: ContentDigest
        /// In bytes.
        package let size: Int64
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
        /// The number that the encoder needs to go on after it.
        package let note: UInt64
        /// All of it, in bytes.
        package let size: Int
        /// Bytes that are here.
        package fileprivate(set) var count: Int
        fileprivate let offset: Int64

        package var isWhole: Bool { count == size }
    }

    /// Most DATA of a stream; a longer stream cannot go on.
    package static let mostEntries = 1 << 16

    private static let magic: [UInt8] = [0x89] + Array("STREAM".utf8) + [1]
    private static let headerSize = 81
    static let entryHeaderSize = 12
    private static let sizeSize: Int64 = 4
    private static let longestData = Limits.segmentSize

    package let header: Header
    private let file: OpenFile
    /// The lock is held while the file is read or written, too.
    private let content: Mutex<[Entry]>

    private init(_ header: Header, _ file: consuming OpenFile, _ entries: [Entry] = []) {
        self.header = header
        self.file = file
        content = Mutex(entries)
    }

    /// - Returns: The size of a file with these entries, in bytes.
    private static func end(of entries: [Entry]) -> Int64 {
        entries.last.map { $0.offset + Int64($0.count) } ?? Int64(headerSize)
    }

    /// Makes the file, which must not be there yet.
    package convenience init(_ header: Header, at path: FilePath, in folder: borrowing OpenFolder) throws(FileError) {
        try self.init(header, writing: try folder.makeFile(at: path))
    }

    /// - Parameter file: An empty one, open for writing.
    package convenience init(_ header: Header, writing file: consuming OpenFile) throws(FileError) {
        let fields = [header.encoding.rawValue] + header.sha256.bytes + Self.bytes(of: UInt64(header.size))
        try file.write(Self.magic + fields + (header.base?.bytes ?? Array(repeating: 0, count: 32)), at: 0)
        self.init(header, file)
    }

    /// Opens a file that an earlier process wrote.
    ///
    /// - Returns: `nil` for a file that is no stream. It leaves out damaged data at the end.
    package convenience init?(at path: FilePath, in folder: borrowing OpenFolder) throws(FileError) {
        try self.init(going: try folder.file(at: path, .readWrite))
    }

    /// - Parameter file: Open for reading and writing.
    package convenience init?(going file: consuming OpenFile) throws(FileError) {
        let size = try file.size
        let fields = try file.read(Self.headerSize, at: 0)
        guard fields.count == Self.headerSize, fields.starts(with: Self.magic),
            let encoding = PartEncoding(rawValue: fields[8]), let sha256 = ContentDigest(bytes: Array(fields[9..<41])),
            let base = ContentDigest(bytes: Array(fields[49..<81]))
        else { return nil }
        let partSize = UInt64(bigEndianBytes: fields[41..<49])
        guard partSize <= UInt64(Limits.partSize) else { return nil }
        let header = Header(
            encoding, of: Manifest.Part(size: Int64(partSize), sha256: sha256), over: encoding.needsBase ? base : nil)
        var found: [Entry] = []
        while found.count < Self.mostEntries, Self.end(of: found) + Int64(Self.entryHeaderSize) < size {
            let fields = try file.read(Self.entryHeaderSize, at: Self.end(of: found))
            let length = Int(UInt64(bigEndianBytes: fields.prefix(4)))
            guard fields.count == Self.entryHeaderSize, (1...Self.longestData).contains(length) else { break }
            let offset = Self.end(of: found) + Int64(Self.entryHeaderSize)
            let count = Int(min(Int64(length), size - offset))
            found.append(
                Entry(note: UInt64(bigEndianBytes: fields.dropFirst(4)), size: length, count: count, offset: offset))
        }
        self.init(header, file, found)
    }

    /// The position up to which the stream is here.
    package var position: Int64 {
        // It counts all of the file but its header and the notes.
        content.withLock { entries in
            let notes = (Int64(Self.entryHeaderSize) - Self.sizeSize) * Int64(entries.count)
            return Self.end(of: entries) - Int64(Self.headerSize) - notes
        }
    }
    package var entries: [Entry] { content.withLock { $0 } }

    /// Appends the data of one DATA, or their beginning, after which only `extend` may follow.
    ///
    /// - Parameter size: Of all the data, in bytes.
    /// - Throws: `.fileTooLarge` beyond `mostEntries`.
    package func append(_ data: [UInt8], of size: Int, note: UInt64 = 0) throws(FileError) {
        try content.withLock { entries throws(FileError) in
            guard entries.count < Self.mostEntries, entries.last?.isWhole != false else {
                throw FileError(.write, path, .fileTooLarge)
            }
            let head = Self.bytes(of: UInt64(size)).suffix(4) + Self.bytes(of: note)
            let end = Self.end(of: entries)
            try file.write(head + data, at: end)
            let offset = end + Int64(Self.entryHeaderSize)
            entries.append(Entry(note: note, size: size, count: data.count, offset: offset))
        }
    }

    /// Appends more bytes of the last DATA, whose beginning is here.
    ///
    /// - Throws: `.invalidArgument` for more bytes than are missing.
    package func extend(with more: [UInt8]) throws(FileError) {
        try content.withLock { entries throws(FileError) in
            guard var last = entries.popLast() else { throw FileError(.write, path, .invalidArgument) }
            defer { entries.append(last) }
            guard more.count <= last.size - last.count else { throw FileError(.write, path, .invalidArgument) }
            try file.write(more, at: last.offset + Int64(last.count))
            last.count += more.count
        }
    }

    /// Removes the last DATA, complete or not.
    package func dropLast() throws(FileError) {
        try content.withLock { entries throws(FileError) in
            guard entries.popLast() != nil else { return }
            try file.truncate(to: Self.end(of: entries))
        }
    }

    /// - Returns: The bytes that are here of DATA number `index`.
    package func data(_ index: Int) throws(FileError) -> [UInt8] {
        try content.withLock { entries throws(FileError) in
            guard entries.indices.contains(index) else { return [] }
            let entry = entries[index]
            let data = try file.read(entry.count, at: entry.offset)
            guard data.count == entry.count else { throw FileError(.read, path, .ioError) }
            return data
        }
    }

    /// Finds a position in the entries.
    ///
    /// - Returns: How many complete DATA lie before it, and how many bytes of the next one; `nil` for a position within a size or
    ///   beyond the end.
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

    /// SHA-256 of the stream before a position; `nil` for no position of the stream.
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
        try content.withLock { _ throws(FileError) in try file.sync() }
    }

    package var path: FilePath { file.path }

    private static func bytes(of number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}
