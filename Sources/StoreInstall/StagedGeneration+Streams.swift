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
        receiving = index
        if earlier, let earlierStream {
            keeping = StreamJournal(goingOnWith: earlierStream, growing: space.grow)
        } else if mayWait {
            keeping = StreamJournal(PartStream.Header(encoding, of: manifest.parts[index], over: base))
        }
        earlierStream = nil
    }

    /// The data of one DATA have been taken, or the rest of what an earlier session had of it.
    package func keep(_ data: [UInt8]) {
        if keeping?.add(data) == true {
            keeping?.enter(growing: space.grow, makeStream)
        } else {
            keeping?.syncIfDue(syncRecord)
        }
    }

    /// Ends the stream of the open part: the part of that index is complete, or dropped.
    package func endStream(complete index: Int? = nil) {
        defer { (keeping, receiving) = (nil, nil) }
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
        if let earlierStream, keeping == nil {
            keeping = StreamJournal(goingOnWith: earlierStream, growing: space.grow)
        }
        if keeping?.isWorthFile(with: cut?.bytes.count ?? 0) == true {
            keeping?.enter(growing: space.grow, makeStream)
        }
        if let cut { keeping?.append(cut.bytes, of: cut.size) }
        keeping?.sync(syncRecord)
        let isKept = keeping?.isInFile == true
        let whole = keepWholeParts()
        if !hasRecord, whole >= StreamJournal.least { try? writeRecord() }
        waits = hasRecord && (isKept || whole > 0)
        (keeping, earlierStream) = (nil, nil)
        // The next session may take it.
        lock = nil
    }

    /// A part has come at once: many of them are worth a record as well.
    private func count(_ size: Int64) {
        countAtOnce += size
        guard !hasRecord, countAtOnce >= StreamJournal.mostInMemory else { return }
        // A shipment without a record comes again.
        try? writeRecord()
    }

    /// Removes parts that are incomplete: their sizes say so, or their streams have not ended, from which they are made anew.
    ///
    /// - Returns: Bytes of the others.
    private func keepWholeParts() -> Int64 {
        manifest.parts.indices.filter { !linkedParts.contains($0) }.reduce(0) { sum, index in
            let path = path(ofPart: index)
            guard let size = (try? folder.status(of: path))?.size else { return sum }
            if size == manifest.parts[index].size, index != receiving { return sum + size }
            try? folder.removeFile(path)
            return sum
        }
    }

    private func makeStream(_ header: PartStream.Header) throws(FileError) -> PartStream {
        try writeRecord()
        return try PartStream(header, at: path.appending(InboxLayout.streamFile), in: folder)
    }

    private func removeStream() {
        try? folder.removeFile(path.appending(InboxLayout.streamFile))
    }

    /// From here on this is what waits of the store, and nothing else does.
    func writeRecord() throws(FileError) {
        let record = WaitingRecord(producer: sender.peer)
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
            if try folder.holds(path) { try folder.removeFile(path) }
        }
        hasRecord = false
    }

    /// Writes a file beside what is there, and then in its place.
    private func replace(_ bytes: [UInt8], as name: String) throws(FileError) {
        let aside = path.appending(name + ".new")
        if try folder.holds(aside) { try folder.removeFile(aside) }
        try folder.replace(path.appending(name), with: bytes, aside: aside, durably: false)
    }
}
