import EssentialFoundation
import ShipStore
import SystemPackage

/// The folder of one half of an exchange: only what that half has made is in it, as a file says that was there before all else.
enum TransferFolder {
    static let mark = "ship-store-transfers"

    /// Makes the folder if it is not there. One that is empty is taken over.
    ///
    /// - Throws: `.directoryNotEmpty` for one that holds what no half has made: something of it may have a name of ours.
    static func make(_ folder: FilePath) throws(FileError) {
        try Folder.make(folder)
        let names = try Folder.names(in: folder)
        guard !names.contains(mark) else { return }
        guard names.isEmpty else { throw FileError(.makeFolder, folder, .directoryNotEmpty) }
        _ = try OpenFile.creating(folder.appending(mark))
        // Nothing else is there before it.
        try Folder.sync(folder)
    }
}

extension FilePath {
    /// Removes files from a folder of files that each have a token for a name, and nothing that has another name.
    ///
    /// - Parameter isKept: Which ones stay.
    func removeTransfers(unless isKept: (TransferMessage.Token) -> Bool) {
        for name in (try? Folder.names(in: self)) ?? [] {
            guard let token = TransferMessage.Token(name), !isKept(token) else { continue }
            // It fails for a folder.
            try? PlatformCalls.removeFile(appending(name))
        }
    }
}

/// What a sender keeps on its disk:
///
///     DIR/record.json            what it knows (`SenderRecord`)
///     DIR/outgoing/TOKEN         a shipment that is under way, one a store at most
///     DIR/ship-store-transfers   empty: the folder is a half's own (`TransferFolder`)
///     DIR/bases                  copies of what went, to build on; without a place that the app has chosen
struct SenderFolder: Hashable, Sendable {
    let path: FilePath

    var record: FilePath { path.appending("record.json") }
    var outgoing: FilePath { path.appending("outgoing") }
    var bases: FilePath { path.appending("bases") }

    /// Longest record, in bytes: the receiver's word is the most of it.
    private static let recordLimit: Int64 = 4 * 1024 * 1024

    func shipment(_ token: TransferMessage.Token) -> FilePath { outgoing.appending(token.text) }

    /// Makes the folder, if it is not there.
    ///
    /// - Throws: `.directoryNotEmpty` if it is somebody else's.
    func make() throws(FileError) {
        try TransferFolder.make(path)
        try Folder.make(outgoing)
    }

    /// - Returns: One that knows nothing, if there is none, or it cannot be read: then the receiver is asked.
    func readRecord() -> SenderRecord {
        guard let file = try? OpenFile.readingWithoutFollowing(record), let size = try? file.size,
            size <= Self.recordLimit, let bytes = try? file.read(Int(size), at: 0),
            let form = try? JSONDecoder().decode(RecordForm.self, from: Data(bytes)), form.version == RecordForm.version
        else { return SenderRecord() }
        return form.record
    }

    /// Durable when this returns.
    func write(_ record: SenderRecord) throws(FileError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(RecordForm(record)) else {
            throw FileError(.write, self.record, .invalidArgument)
        }
        let file = try ResultFile(self.record, replacing: nil)
        try file.write(Array(data))
        _ = try file.finish()
    }

    /// Removes shipments of which nobody has need any more.
    func removeShipments(besides tokens: Set<TransferMessage.Token>) {
        outgoing.removeTransfers { tokens.contains($0) }
    }
}

/// As it stands in the file.
private struct RecordForm: Codable {
    static let version = 1

    let version: Int
    let held: String?
    let question: SenderRecord.Question?
    let stores: [String: SenderRecord.Entry]

    init(_ record: SenderRecord) {
        version = Self.version
        held = record.held.map { String(decoding: $0.encoded, as: UTF8.self) }
        question = record.question
        stores = Dictionary(record.stores.map { ($0.key.text, $0.value) }) { first, _ in first }
    }

    var record: SenderRecord {
        var record = SenderRecord(
            held: held.flatMap { try? HoldingsFile(decoding: Array($0.utf8)) }, question: question)
        for (name, entry) in stores {
            if let name = StoreName(name) { record.stores[name] = entry }
        }
        return record
    }
}
