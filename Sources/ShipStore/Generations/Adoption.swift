import ShipProtocol
import StoreFiles
public import StoreInbox
import StoreInstall
import StoreOperations
import StoreServing
public import SystemPackage

/// The outcome for a store that an app brings along, and that was to be the first generation: `Consumer.adopt`.
public struct Adoption: Hashable, Sendable {
    /// The current generation.
    public let generation: Generation
    public let outcome: Outcome

    public enum Outcome: String, Hashable, Sendable {
        case adopted
        /// It is the current generation already.
        case unchanged
    }
}

extension Consumer {
    /// Makes a copy that lies in an app's bundle the first generation of a store, so that the first shipment carries only what has changed
    /// since. The file may be on a medium that cannot be written to; it stays as it is.
    ///
    /// The copy is one that `ship-store copy STORE --as NAME.base.sqlite` has made, with its external files beside it. It is verified, and
    /// becomes current in one step, as a shipment does; no bytes of it are copied where the file system clones. A sender that may send the
    /// store may know of it.
    ///
    ///     do {
    ///         try await consumer.adopt("Recipes.base.sqlite", as: "Recipes")
    ///     } catch ShipmentError.install(.hasGenerations) {
    ///         // Shipments have come since, which are newer.
    ///     }
    ///
    /// - Parameters:
    ///   - path: Where the copy is.
    ///   - name: Of the store; `nil` for what the name of the file suggests, without `.base`.
    /// - Throws: `.install(.hasGenerations)` if the inbox has another generation of the store, `.operation(.notCanonical)` for a file that
    ///   is no such copy, and what a shipment may be refused for.
    @discardableResult
    public func adopt(_ path: FilePath, as name: String? = nil) async throws(ShipmentError) -> Adoption {
        let chosen = name.map { StoreName($0) } ?? StoreName(ofBundle: path)
        guard let chosen else { throw .operation(.badStoreName(name ?? "")) }
        return try await ShipmentError.awaiting {
            return try await withTaskExecutorPreference(BlockingExecutor.shared) {
                try await self.adopt(path, under: chosen)
            }
        }
    }

    private func adopt(_ path: FilePath, under name: StoreName) async throws -> Adoption {
        var copying = CopyOptions()
        copying.keptFree = options.keptFree
        // What a killed adoption has left, also where this one takes no copy.
        TemporaryFolder.sweep(copying.temporaryFolder, .temporary)
        // What is missing, or is no store, is said in the same words as of any store.
        let source = try SourceStore(at: path, takesSeveralNames: true)
        let file = try OpenFile.readingWithoutFollowing(source.path)
        let slot = try await queues.take(name, within: options.timeouts.work(on: try file.size))
        defer { withExtendedLifetime(slot) {} }
        if let current = try installer.adopted(try ContentDigest(ofFile: file) { Task.isCancelled }, as: name) {
            return Adoption(generation: current, outcome: .unchanged)
        }
        let copy = try await PreparedCopy.ofBundle(at: source.path, named: name, copying)
        let manifest = copy.manifest
        try options.budget.admit(manifest)
        _ = try options.requirements.admit(manifest)
        let staged = try installer.undisturbed(name) { try installer.stage(manifest, from: .adoption, present: [:]) }
        for (index, part) in manifest.parts.enumerated() where part.size > 0 {
            let path = index == 0 ? source.path : copy.path(ofPart: index)
            try staged.take(part: index, from: try OpenFile.readingWithoutFollowing(path))
        }
        let sealed = try staged.seal()
        _ = try await options.checking.check(sealed.storePathByDescriptor, against: StoreClaims(manifest))
        try options.probes.ask(at: sealed.storePathByDescriptor, size: manifest.store.size)
        let generation = try await installer.install(sealed) { generation in
            try coordinator.tryOpening(generation, in: try installer.folder.folder(of: generation))
        }
        return Adoption(generation: generation, outcome: .adopted)
    }
}

extension StoreName {
    /// The name that the name of a file in a bundle suggests: `Recipes` for `Recipes.base.sqlite`.
    init?(ofBundle path: FilePath) {
        let name = StoreName(suggestedBy: path)
        let ending = ".base"
        self.init(name.text.hasSuffix(ending) ? String(name.text.dropLast(ending.count)) : name.text)
    }
}
