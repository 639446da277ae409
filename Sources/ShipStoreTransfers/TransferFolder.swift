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
