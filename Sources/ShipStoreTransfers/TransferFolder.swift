import EssentialFoundation
import ShipStore
import SystemPackage

/// The folder of one half of an exchange. Its first file marks it, so that everything in it is this half's own.
extension FilePath {
    /// Makes the folder if it is not there, and marks it. An empty folder is used as it is.
    ///
    /// - Throws: `.directoryNotEmpty` for a folder without the mark that is not empty: its files may have names of this half.
    func makeTransferFolder() throws(FileError) {
        let mark = "ship-store-transfers"
        try Folder.make(self)
        let names = try Folder.names(in: self)
        guard !names.contains(mark) else { return }
        guard names.isEmpty else { throw FileError(.makeFolder, self, .directoryNotEmpty) }
        _ = try OpenFile.creating(appending(mark))
        // The mark is durable before any other file.
        try Folder.sync(self)
    }

    /// Removes the files of this folder that have a token for a name and are not kept, and no others.
    func removeTransfers(unless isKept: (TransferMessage.Token) -> Bool) {
        for name in (try? Folder.names(in: self)) ?? [] {
            guard let token = TransferMessage.Token(name), !isKept(token) else { continue }
            // This fails for a folder.
            try? PlatformCalls.removeFile(appending(name))
        }
    }

    /// Writes this file anew, as JSON; durable when this returns.
    func write(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting = []) throws(FileError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        guard let data = try? encoder.encode(value) else { throw FileError(.write, self, .invalidArgument) }
        let file = try ResultFile(self, replacing: nil)
        try file.write(Array(data))
        _ = try file.finish()
    }
}

/// The folder of a sender:
///
///     DIR/record.json            the `SenderRecord`
///     DIR/outgoing/TOKEN         a shipment that is under way, at most one a store
///     DIR/ship-store-transfers   empty: the mark of the folder
///     DIR/bases                  copies of sent stores, as bases of deltas, unless the app has chosen another place
struct SenderFolder: Hashable, Sendable {
    let path: FilePath

    var record: FilePath { path.appending("record.json") }
    var outgoing: FilePath { path.appending("outgoing") }
    var bases: FilePath { path.appending("bases") }

    /// Longest record, in bytes; most of it is the receiver's holdings.
    private static let recordLimit: Int64 = 4 * 1024 * 1024

    func shipment(_ token: TransferMessage.Token) -> FilePath { outgoing.appending(token.text) }

    /// Makes the folder, if it is not there.
    func make() throws(FileError) {
        try path.makeTransferFolder()
        try Folder.make(outgoing)
    }

    /// - Returns: An empty record if there is none, or it cannot be read: then the sender asks the receiver.
    func readRecord() -> SenderRecord {
        guard let file = try? OpenFile.readingWithoutFollowing(record), let size = try? file.size,
            size <= Self.recordLimit, let bytes = try? file.read(Int(size), at: 0),
            let record = try? JSONDecoder().decode(SenderRecord.self, from: Data(bytes)), record.isSound
        else { return SenderRecord() }
        return record
    }

    /// Durable when this returns.
    func write(_ record: SenderRecord) throws(FileError) {
        try self.record.write(record, .sortedKeys)
    }
}
