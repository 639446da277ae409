import StoreFiles
package import SystemPackage

extension BaseMemory {
    /// The folder in which a copy is to be made that may be remembered, in a temporary folder of its own (`TemporaryFolder`): then it
    /// is not written twice. Nothing is forgotten for it: it is not known yet what it will be built on.
    ///
    /// - Parameter size: Of the copy, in bytes, about.
    /// - Returns: `nil` if there is no room for it here, or nothing can be made: it is to be made elsewhere.
    package func workingFolder(for size: Int64) -> FilePath? {
        guard size <= budget, (try? make()) != nil, (try? promise(size)) != nil else { return nil }
        // Whether anything can be made there at all, is tried.
        guard (try? TemporaryFolder(in: folder)) != nil else { return nil }
        return folder
    }

    /// How many external files may be remembered with one copy, and how many bytes of them.
    package var roomForFiles: (count: Int, size: Int64) { (BaseIndex.mostFiles, budget / BaseIndex.fileShare) }

    /// Forgets what was used longest ago, until there is room.
    ///
    /// - Returns: The promise of it; `nil` if there is too little in any case.
    func makeRoom(for size: Int64) throws(BaseMemoryError) -> SpaceLedger.Promise? {
        if let promise = try promise(size) { return promise }
        let isMade = try whileLocked { (change) throws(BaseMemoryError) in try change.makeRoom(for: size) }
        return isMade == true ? try promise(size) : nil
    }

    func promise(_ size: Int64) throws(BaseMemoryError) -> SpaceLedger.Promise? {
        let reserve = try BaseMemoryError.wrapping { () throws(FileError) in
            try PlatformCalls.diskSize(around: folder) / Self.freeShare
        }
        do throws(SpaceLedger.Refusal) {
            return try SpaceLedger.ofProcess.promise(size, leaving: reserve, around: folder)
        } catch {
            switch error {
            case .tooLittle: return nil
            case .file(let error): throw .file(error)
            }
        }
    }
}

extension MemoryChange {
    /// Bytes that are free, and how many of them have to stay free.
    func space() throws(BaseMemoryError) -> (free: Int64, reserve: Int64) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            (try folder.freeSpace, try PlatformCalls.diskSize(around: folder.path) / BaseMemory.freeShare)
        }
    }

    /// Forgets what was used longest ago, until so much is free beside what has to be. Where that cannot be, only what has to be free
    /// is made so: by everything, if need be, as the disk is full of other things.
    ///
    /// - Returns: Whether there is so much.
    mutating func makeRoom(for size: Int64) throws(BaseMemoryError) -> Bool {
        let (free, reserve) = try space()
        func leaving(_ size: Int64) -> BaseIndex? {
            index.evicting(except: nil) { free + $0.unusedSize - size >= reserve }
        }
        let (enough, before) = (leaving(size), index)
        if let left = enough ?? leaving(0) { index = left } else { _ = index.remove { _ in true } }
        removeUnused()
        if index != before { try save() }
        return enough != nil
    }
}
