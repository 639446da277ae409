import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// What a receiver that was killed, or lost its power, may have left behind. Only the owner of an inbox sweeps it.
struct InboxSweep {
    let folder: InboxFolder
    let retention: Retention

    /// Removes stagings but one that waits of each store, generations that never became current and those that are too many; puts back links that are
    /// missing, and removes those of a store whose first shipment never became current.
    ///
    /// - Parameter late: Told what has to stay for a moment.
    func run(_ late: LatePruning) throws(InboxError) {
        try ForgottenStores(in: folder).sweep()
        for name in try folder.storeNames() {
            try sweep(name, late)
        }
    }

    private func sweep(_ name: StoreName, _ late: LatePruning) throws(InboxError) {
        let custody = try StoreCustody(of: name, in: folder)
        let layout = folder.layout
        try InboxError.wrapping { () throws(FileError) in try empty(layout.staging(name), of: name) }
        // Where the record cannot be read nobody knows what was current once; the next shipment is told so.
        let record = try? custody.record()
        guard let current = folder.currentName(of: name) else {
            // Something else in its place is not for us to judge; and where there was more than a first shipment, somebody
            // has removed the link, and may want the generations.
            guard try folder.awaitsFirst(name) else { return }
            // No name may lead to what is not there.
            try PublicLinks(folder: folder).remove(of: name)
            for generation in try folder.generationNames(of: name) { try custody.remove(generation) }
            custody.removeFolderIfUnused()
            return
        }
        if let record {
            try custody.settle()
            let highest = max(current.number, record.highest)
            for generation in try folder.generationNames(of: name) where generation.number > highest {
                try custody.remove(generation)
            }
        }
        late.schedule(name, in: try custody.prune(retention).nextLook)
        if let manifest = try? folder.current(of: name)?.manifest {
            try PublicLinks(folder: folder).make(for: manifest)
        }
    }

    private func empty(_ path: FilePath, of name: StoreName) throws(FileError) {
        guard (try? folder.files.status(of: path))?.kind == .folder else { return }
        let kept = WaitingShipments(in: folder).all(of: name).first?.path
        for name in try folder.files.names(in: path) where path.appending(name) != kept {
            try folder.files.removeTree(at: path.appending(name))
        }
    }
}

/// One receiver owns an inbox: flock(2) on `.ship-store/.lock`, which the kernel frees when the owner dies, however it
/// dies.
struct InboxLock: ~Copyable, Sendable {
    private let file: OpenFile

    /// - Throws: `.inboxInUse`, `.file`.
    init(_ folder: InboxFolder) throws(InboxError) {
        let path = folder.layout.lock
        let file = try InboxError.wrapping { () throws(FileError) in try folder.files.lockFile(at: path) }
        let isFree = try InboxError.wrapping { () throws(FileError) in
            // It is written to below: nothing that has another name too.
            let status = try file.status
            guard status.kind == .file, status.links == 1 else { throw FileError(.lock, path, .invalidArgument) }
            return try PlatformCalls.tryLock(file.descriptor, path)
        }
        guard isFree else { throw .inboxInUse(folder.layout.root, process: Self.owner(in: file)) }
        // Only to tell a second receiver who has it: nothing depends on it.
        try? file.descriptor.truncate(to: 0)
        try? file.write(Array("\(PlatformCalls.processID)\n".utf8))
        self.file = file
    }

    private static func owner(in file: borrowing OpenFile) -> Int32? {
        guard let bytes = try? file.read(16, at: 0) else { return nil }
        return Int32(String(decoding: bytes, as: UTF8.self).prefix { $0.isNumber })
    }
}

extension FileDescriptor {
    fileprivate func truncate(to size: Int64) throws { try resize(to: size) }
}
