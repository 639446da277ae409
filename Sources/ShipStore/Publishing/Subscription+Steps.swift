import ShipLinks
import ShipProtocol
import StoreFiles
import StoreInstall

/// The steps of a publication, one by one.
extension Subscription {
    /// Takes a step, after which the store is as it says.
    ///
    /// - Parameters:
    ///   - target: Installs it.
    ///   - bases: Has what the step builds on.
    func take(
        _ step: PublishedStep, _ search: StepSearch, of store: PublishedHead.Store, in target: Consumer,
        over bases: Consumer
    ) async throws -> Receipt? {
        let receipt = try await install(step, search, of: store, in: target, over: bases)
        // Its publisher has signed something else than it says.
        guard let current = try target.installer.folder.current(of: store.name),
            ManifestContent(of: current.manifest).id == step.to
        else { throw PublicationError.badStep(place, store.name) }
        return receipt
    }

    private func install(
        _ step: PublishedStep, _ search: StepSearch, of store: PublishedHead.Store, in target: Consumer,
        over bases: Consumer
    ) async throws -> Receipt? {
        func install(_ link: PeerLink) async throws -> Receipt? {
            let report = target === consumer ? report : { @Sendable _ in }
            let receipts = try await target.receive(over: link, .never, basesIn: bases.installer.folder, report)
            return receipts.first { $0.name == store.name }
        }
        guard let digest = step.sha256 else {
            var steps = store.steps
            if let catalog = search.catalog(ofBundled: step), let bundle = catalog.bundle,
                !steps.contains(where: { $0.step == step })
            {
                if self.bundle?.object != bundle {
                    self.bundle = (bundle, try await reader.bytes(of: bundle, from: place))
                }
                guard let found = try? catalog.shipments(in: self.bundle?.bytes ?? []) else {
                    throw PublicationError.badObject(place, bundle.sha256)
                }
                steps = found
            }
            guard let found = steps.first(where: { $0.step == step }) else { return nil }
            let base = try bases.installer.folder.content(before: step, of: store.name)
            guard let file = try? found.file(by: certificate, over: base) else {
                throw PublicationError.badStep(place, store.name)
            }
            return try await install(link(to: ClosedSide(), isSigned: true).prefixed(with: file))
        }
        do {
            let object = PublishedObject(sha256: digest, size: step.size)
            let receipt = try await install(link(to: try await fetch(object)))
            consumer.installer.removeObject(digest)
            return receipt
        } catch {
            // What has come of it is of use as long as the rest may come.
            let failure = ShipmentError(error)
            if failure != .stopped, !failure.breaksLink { consumer.installer.removeObject(digest) }
            throw error
        }
    }

    /// Brings all of an object, after what has come of it before.
    private func fetch(_ object: PublishedObject) async throws -> FileStream {
        let part = try consumer.installer.openObject(object.sha256)
        let known = try part.status.size
        if known > 0, known <= object.size, try await bring(object, into: part, from: known) {
            return FileStream(part)
        }
        // What has its name is no part of it, or was damaged, as after a power cut. It is replaced, and not written to.
        consumer.installer.removeObject(object.sha256)
        let file = try consumer.installer.openObject(object.sha256)
        guard try await bring(object, into: file, from: 0) else {
            throw PublicationError.badObject(place, object.sha256)
        }
        return FileStream(file)
    }

    /// Brings the rest of an object.
    ///
    /// - Returns: Whether it has its size and its digest.
    private func bring(
        _ object: PublishedObject, into file: borrowing OpenFile, from offset: Int64
    ) async throws -> Bool {
        let room = try consumer.installer.reserveRoom(for: object.size - offset, of: object.sha256)
        defer { withExtendedLifetime(room) {} }
        var isLonger = false
        if offset < object.size {
            try await reader.object(object.sha256, from: offset, upTo: object.size + 1) { offset, piece in
                isLonger = isLonger || offset + Int64(piece.count) > object.size
                if !isLonger { try file.write(piece, at: offset) }
            }
        }
        return try !isLonger && file.status.size == object.size && ContentDigest(ofFile: file) == object.sha256
    }

    func link(to shipment: some LinkReader, isSigned: Bool = false) -> PeerLink {
        PeerLink(
            direction: .oneWay, isFile: true, reader: shipment, writer: ClosedSide(), peer: .at(place),
            signer: publisher, isSigned: isSigned)
    }
}
