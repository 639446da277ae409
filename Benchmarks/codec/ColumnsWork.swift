import StoreEncoding
import StoreFiles
import StoreFormat
import SystemPackage

/// The codec's own stages, one after the other, as producer and consumer do them.
struct ColumnsWork {
    let vacuumed: FilePath
    let canonical: FilePath
    let shapes: [String: IndexShape]
    /// Where files are made.
    let folder: FilePath

    enum Flaw: Error { case incomplete, differs }

    /// From the vacuumed file to the canonical copy.
    func canonicalize() throws {
        let target = folder.appending("canonical")
        defer { try? PlatformCalls.removeFile(target) }
        let source = try PageFile(reading: vacuumed)
        let written = try PageFile(creating: target, pageSize: source.pageSize)
        try CanonicalForm.write(of: source, to: written)
        try written.finish()
    }

    /// From the canonical copy to segments, deflated.
    func encode() throws -> [[UInt8]] {
        var segments: [[UInt8]] = []
        try StoreWalk.run(over: try PageFile(reading: canonical), shapes: shapes) { content in
            segments.append(try content.encoded(.standard))
        }
        return segments
    }

    /// From segments to the finished file, its indexes included.
    ///
    /// - Returns: The file; whoever asked removes it.
    func decode(_ segments: [[UInt8]]) throws -> FilePath {
        let target = folder.appending("decoded")
        var built: BuiltFile?
        let copy = try PageFile(reading: canonical)
        let builder = StoreBuilder(pageSize: copy.pageSize, pageCount: copy.pageCount) { settings in
            let file = try BuiltFile(creating: target, pageSize: settings.pageSize)
            built = file
            return file
        }
        for segment in segments { try builder.append(segment) }
        guard builder.isComplete else { throw Flaw.incomplete }
        try built?.finish()
        return target
    }

    /// - Throws: `.differs` unless a file is the canonical copy, byte for byte.
    func check(_ decoded: FilePath) throws {
        let (made, wanted) = (try PageFile(reading: decoded), try PageFile(reading: canonical))
        guard made.pageCount == wanted.pageCount, made.pageSize == wanted.pageSize else { throw Flaw.differs }
        var page = [UInt8](repeating: 0, count: wanted.pageSize)
        var other = page
        for number in 1...wanted.pageCount {
            try made.read(number, into: &page)
            try wanted.read(number, into: &other)
            guard page == other else { throw Flaw.differs }
        }
    }
}
