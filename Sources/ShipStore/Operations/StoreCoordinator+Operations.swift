public import StoreServing
public import SystemPackage

/// Operations on a coordinator's stores as a whole; the coordinator tells its readers.
extension StoreCoordinator {
    /// Restores one of the coordinator's own files while it is read and written to. `changes()` reports that the file was
    /// rewritten. The rest is as in `LocalStore.restore(from:options:)`.
    ///
    /// - Throws: `.serving(.hasNoFile)` for a store of an inbox, which only gets new generations.
    public func restore(
        _ selection: StoreSelection = .only, from copy: FilePath, options: RestoreOptions = RestoreOptions()
    ) async throws(ShipmentError) -> Restoration {
        let store = try file(selection)
        // Also after an error: it may have come when the store was written. And a restore that is done has a result, suspended or not.
        defer { try? noteRestored(selection) }
        return try await LocalStore(store).restore(from: copy, options: options)
    }

    /// Takes a copy of each store, each of one committed state, in folders that are removed with the copies.
    public func temporaryCopies(options: CopyOptions = CopyOptions()) async throws(ShipmentError) -> [TemporaryCopy] {
        var copies: [TemporaryCopy] = []
        for place in try places() { copies.append(try await TemporaryCopy.take(of: place.path, options: options)) }
        return copies
    }

    /// Takes a copy of each store into one folder, each durably and in one step.
    public func copyAll(
        into folder: FilePath, options: CopyOptions = CopyOptions()
    ) async throws(ShipmentError) -> [LocalCopy] {
        var copies: [LocalCopy] = []
        for place in try places() {
            copies.append(try await LocalCopy.take(of: place.path, into: folder, options: options))
        }
        return copies
    }

    /// In the order of `stores`; generations stay until their copies are taken.
    private func places() throws(ShipmentError) -> [(path: FilePath, pin: Pin?)] {
        try ShipmentError.wrapping { try stores.map { try place(of: .named($0)) } }
    }

    private func file(_ selection: StoreSelection) throws(ShipmentError) -> FilePath {
        try ShipmentError.wrapping {
            let (path, pin) = try place(of: selection)
            if let pin { throw CoordinatorError.hasNoFile(pin.manifest.name) }
            return path
        }
    }
}
