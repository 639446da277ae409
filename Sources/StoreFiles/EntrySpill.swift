package import StoreFormat
package import SystemPackage

/// Where entries go that do not fit into memory: a file without a name, which is gone with its owner, or with the process.
package final class EntrySpill: SpillFile {
    private let file: OpenFile
    private let room: (any SpillRoom)?
    private var size: Int64 = 0

    /// - Parameters:
    ///   - path: A name that is free, and free again once this is made.
    ///   - room: What its bytes are counted in.
    package init(at path: FilePath, in room: (any SpillRoom)? = nil) throws(FileError) {
        file = try OpenFile.creating(path)
        self.room = room
        try PlatformCalls.removeFile(path)
    }

    deinit { room?.giveBack(size) }

    package func append(_ bytes: [UInt8]) throws {
        try room?.take(Int64(bytes.count))
        // From here on they are given back with this, whatever becomes of the writing.
        size += Int64(bytes.count)
        try file.write(bytes)
        room?.wrote(Int64(bytes.count))
    }

    package func read(_ count: Int, at offset: Int64) throws -> [UInt8] { try file.read(count, at: offset) }
}

/// Room that is promised as it is needed.
package struct PromisedRoom: SpillRoom {
    private let promise: SpaceLedger.Promise
    private let explain: @Sendable (SpaceLedger.Refusal) -> any Error

    /// - Parameter explain: What a refusal is to whoever writes.
    package init(_ promise: SpaceLedger.Promise, explain: @escaping @Sendable (SpaceLedger.Refusal) -> any Error) {
        self.promise = promise
        self.explain = explain
    }

    package func take(_ bytes: Int64) throws {
        do throws(SpaceLedger.Refusal) {
            try promise.extend(by: bytes)
        } catch {
            throw explain(error)
        }
    }

    package func wrote(_ bytes: Int64) { promise.use(bytes) }

    package func giveBack(_ bytes: Int64) { promise.shrink(by: bytes) }
}
