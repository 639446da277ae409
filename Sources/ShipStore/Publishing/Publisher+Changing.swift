package import DeviceTrust
import EssentialFoundation
package import ShipProtocol

/// An operator's changes of a publication, beside its stores.
extension Publisher {
    /// Names the device that goes on with the publication, in the last head of this one.
    ///
    /// - Throws: `.incomplete` for a device that has not gone on itself: the next one would not find any more what is to be published anew.
    package func handOver(to id: DeviceIdentifier) async throws {
        guard id != identity.id else { throw TrustListError.isThisDevice }
        do {
            if let known = try await head() {
                try checkAllIsPublished(known)
                let last = try HeadFile(decoding: known.file).head(at: place)
                let former = try await storage.formerHeads(of: last, by: known.publisher, from: place)
                guard former.count + (known.publisher == identity.id ? 0 : 1) < Limits.formerPublishers else {
                    throw PublicationError.tooMany(place)
                }
            }
            try await update(handingOverTo: id)
        } catch PublicationError.handedOver(place, to: id) {
            // That is what was asked for.
        }
    }

    /// Has no follower take anything of stores from now on.
    package func halt(_ names: Set<StoreName>) async throws -> [StoreName] {
        try await change(names) { name, since in
            PublishedHead.HaltedStore(name: name, since: since ?? Timestamp(Date()))
        }
    }

    /// Has followers take what is published again.
    package func resume(_ names: Set<StoreName>) async throws -> [StoreName] {
        try await change(names, if: checkAllIsPublished) { _, _ in nil }
    }

    /// Has all followers take the newest state of stores from now on, whatever is being rolled out.
    package func release(_ names: Set<StoreName>) async throws -> (rollingOut: [StoreName], halted: [StoreName]) {
        var (left, halted): ([StoreName], [StoreName]) = ([], [])
        try await update(releasing: { known in
            try checkAllIsPublished(known)
            let head = known.head
            try check(names, areAmong: Set(head.names))
            let released = names.isEmpty ? Set(head.names) : names
            left = head.names.filter { !released.contains($0) && head[$0]?.rollout != nil }
            halted = head.halted.map(\.name).filter(released.contains)
            return released
        })
        return (left, halted)
    }

    /// Checks that this device has published the stores of the one before: its heads list no others, so they say nothing of them.
    private func checkAllIsPublished(_ known: KnownHead) throws {
        guard known.outdated.isEmpty else {
            throw PublicationError.incomplete(place, without: known.outdated.sorted())
        }
    }

    private func check(_ names: Set<StoreName>, areAmong known: Set<StoreName>) throws {
        if let name = names.subtracting(known).min() {
            throw PublicationError.notPublished(place, name, besides: known.sorted())
        }
    }

    private func change(
        _ names: Set<StoreName>, if check: (KnownHead) throws -> Void = { _ in },
        _ state: (StoreName, _ since: Timestamp?) -> PublishedHead.HaltedStore?
    ) async throws -> [StoreName] {
        var halted: [PublishedHead.HaltedStore] = []
        try await update { head in
            try check(head)
            let since = Dictionary(uniqueKeysWithValues: head.head.halted.map { ($0.name, $0.since) })
            let known = Set(head.head.names).union(head.outdated).union(since.keys)
            try self.check(names, areAmong: known)
            halted = known.compactMap { name in
                names.isEmpty || names.contains(name)
                    ? state(name, since[name]) : since[name].map { .init(name: name, since: $0) }
            }
            return halted
        }
        return halted.map(\.name).sorted()
    }
}
