import ShipProtocol
import StoreFormat
package import SystemPackage

/// The pages of a store in a file: read, written, or written and read back.
///
/// It writes consecutive pages together, and gathers the entries of a pointer map page. What the file has from the file that it is a clone of
/// is not written. Only one task may use it at a time.
package final class PageFile: PageSource, PageSink {
    /// Bytes that it gathers before it writes them.
    private static let gathered = 256 * 1024

    private let file: OpenFile
    /// The pages that it has from another file; `nil` for a file that is no clone.
    private let shared: SharedPages?
    package let pageSize: Int
    private var run: [UInt8] = []
    /// The number of the first page of `run`.
    private var runStart: UInt32 = 0
    /// The pointer map page that is being gathered.
    private var map: (number: UInt32, bytes: [UInt8])?
    /// The pointer map pages that were begun: a file that is written over has something else in the others.
    private var maps: Set<UInt32> = []
    private var ahead: PagesAhead
    /// Called before each page; throws once the work is cancelled.
    private let check: () throws -> Void
    /// When reading, the pages of the file; when writing, the highest page so far.
    package private(set) var pageCount: UInt32

    /// Bytes of the pages.
    package var size: Int64 { Int64(pageCount) * Int64(pageSize) }

    /// Opens a file to read it.
    ///
    /// - Parameter check: Called before each page is read; throws to end the work.
    /// - Throws: `FileError`, `StoreFlaw` for a file without a header, or whose size is not a number of pages.
    package init(reading path: FilePath, check: @escaping () throws -> Void = {}) throws {
        file = try OpenFile.readingWithoutFollowing(path)
        shared = nil
        pageSize = try DatabaseHeader(decoding: file.read(DatabaseHeader.size, at: 0)).pageSize
        let size = try file.size
        guard size % Int64(pageSize) == 0, let count = UInt32(exactly: size / Int64(pageSize)), count > 0 else {
            throw StoreFlaw.truncated(size: Int(clamping: size))
        }
        pageCount = count
        ahead = PagesAhead(pageSize: pageSize)
        self.check = check
    }

    /// Makes a file that must not be there yet. It is complete with `finish`.
    ///
    /// - Parameters:
    ///   - base: A file that is much the same, and does not change: where the file system clones, only what differs is written. That it
    ///     cannot be read is no error.
    ///   - takeSpare: Puts a file at the path that nothing needs any more; returns whether there is one. Where the file system does not
    ///     clone, it is written where it differs.
    package convenience init(
        creating path: FilePath, pageSize: Int, like base: FilePath? = nil,
        takingSpare takeSpare: () -> Bool = { false }, check: @escaping () throws -> Void = {}
    ) throws(FileError) {
        if let base, let base = try? OpenFile.readingWithoutFollowing(base),
            let clone = try OpenFile.creating(path, cloning: base)
        {
            try self.init(writing: clone, cloneOf: base, pageSize: pageSize, check: check)
        } else if base != nil, takeSpare(), let spare = try OpenFile.reusing(path) {
            let unchanged = try OpenFile.readingWithoutFollowing(path)
            try self.init(writing: spare, cloneOf: unchanged, pageSize: pageSize, check: check)
        } else {
            self.init(writing: try OpenFile.creating(path), sharing: nil, pageSize: pageSize, check: check)
        }
    }

    /// - Parameters:
    ///   - file: It has just been made, or is written over.
    ///   - base: The file that it is a clone of, or itself: a page is read here until it is written.
    convenience init(
        writing file: consuming OpenFile, cloneOf base: consuming OpenFile, pageSize: Int,
        check: @escaping () throws -> Void = {}
    ) throws(FileError) {
        let shared = try SharedPages(with: base, pageSize: pageSize)
        self.init(writing: file, sharing: shared, pageSize: pageSize, check: check)
    }

    private init(
        writing file: consuming OpenFile, sharing shared: SharedPages?, pageSize: Int,
        check: @escaping () throws -> Void
    ) {
        self.file = file
        self.shared = shared
        self.pageSize = pageSize
        pageCount = 0
        ahead = PagesAhead(pageSize: pageSize)
        self.check = check
        run.reserveCapacity(Self.gathered + 65_536)
    }

    package func read(_ number: UInt32, into page: inout [UInt8]) throws {
        try check()
        try flush()
        if let shared, try shared.read(number, into: &page) { return }
        let rest = pageCount - min(pageCount, number - 1)
        guard try ahead.read(number, of: rest, into: &page, { try file.read(into: &$0, at: $1) }) else {
            throw FileError(.read, file.path, .ioError)
        }
    }

    package func write(_ page: [UInt8], number: UInt32) throws {
        try check()
        pageCount = max(pageCount, number)
        if number != runStart + UInt32(run.count / pageSize) || run.count >= Self.gathered {
            try flushRun()
            runStart = number
        }
        run.append(contentsOf: page)
    }

    package func writePointer(_ entry: (type: UInt8, parent: UInt32), map number: UInt32, offset: Int) throws {
        var bytes = [entry.type]
        withUnsafeBytes(of: entry.parent.bigEndian) { bytes.append(contentsOf: $0) }
        pageCount = max(pageCount, number)
        if number > map?.number ?? 0 {
            try flushMap()
            map = (number, Array(repeating: 0, count: pageSize))
            maps.insert(number)
        }
        guard number == map?.number else {
            // Few entries belong to earlier maps: those of the children of high levels.
            if maps.insert(number).inserted { try write(Array(repeating: 0, count: pageSize), at: number) }
            shared?.replace(number)
            ahead.forget()
            return try file.write(bytes, at: Int64(number - 1) * Int64(pageSize) + Int64(offset))
        }
        map?.bytes.replaceSubrange(offset..<(offset + 5), with: bytes)
    }

    /// Writes what is left. Nothing may be written afterwards.
    package func finish() throws(FileError) {
        try flush()
        guard shared != nil else { return }
        // The clone may be longer, and may have bytes in the page that nothing is written to.
        try file.truncate(to: size)
        let unused = PageGeometry(pageSize: pageSize, reservedBytes: 0, hasAutoVacuum: false).lockPage
        if unused <= pageCount { try write(Array(repeating: 0, count: pageSize), at: unused) }
    }

    private func flush() throws(FileError) {
        try flushRun()
        try flushMap()
    }

    private func flushRun() throws(FileError) {
        guard !run.isEmpty else { return }
        try write(run, at: runStart)
        run.removeAll(keepingCapacity: true)
    }

    private func flushMap() throws(FileError) {
        if let map { try write(map.bytes, at: map.number) }
    }

    /// - Parameter number: Of the first page.
    private func write(_ bytes: [UInt8], at number: UInt32) throws(FileError) {
        let offset = Int64(number - 1) * Int64(pageSize)
        ahead.forget()
        guard let shared else { return try file.write(bytes, at: offset) }
        for range in shared.changes(in: bytes, from: number) {
            try file.write(Array(bytes[range]), at: offset + Int64(range.lowerBound))
        }
    }
}

/// The names under which SQLite opens a file in a certain way. Source: sqlite.org/uri.html.
extension FilePath {
    /// Makes the file if it is not there, unless the connection only reads.
    package var databaseURI: String { "file:\(escapedForURI)" }

    /// Reads and writes, and never makes the file.
    package var writableDatabaseURI: String { "file:\(escapedForURI)?mode=rw" }

    /// Reads a file that no process changes: SQLite takes no lock, and does not look at sidecars.
    package var immutableDatabaseURI: String { "file:\(escapedForURI)?immutable=1&mode=ro" }

    /// With every byte escaped that could mean something in a URI, or is no text; a slash has to stay.
    private var escapedForURI: String { String(percentEncoding: bytes, keeping: UInt8(ascii: "/")) }
}
