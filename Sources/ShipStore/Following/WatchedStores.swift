import StoreFiles

/// The stores that a producer ships again whenever they change, and what watches them.
package final class WatchedStores: Sendable {
    let all: [WatchedStore]
    private let watch: FileWatch
    private let registration: Registration
    private let recent: RecentBases?

    /// - Parameters:
    ///   - isShared: Whether several receivers may come for them.
    ///   - recent: Keeps copies in RAM; `nil` for none.
    /// - Throws: What is wrong with a store: all have to be there at the start.
    package init(
        of producer: Producer, _ following: Following, isShared: Bool, before recent: RecentBases? = nil
    ) throws(ShipmentError) {
        self.recent = recent
        let copying = producer.options.copy
        // What a killed sender has left, also where no copy is taken for a while.
        TemporaryFolder.sweep(copying.temporaryFolder, .temporary)
        producer.options.memory?.tidy()
        do {
            let all = try producer.shippable { (_, _) throws(ShipmentError) in }.map {
                WatchedStore($0, copying, following, isShared: isShared, before: recent)
            }
            watch = try FileWatch(of: all.count, files: { all[$0].files }) { all[$0].notice() }
            self.all = all
        } catch {
            throw ShipmentError(error)
        }
        registration = following.control.changes.add { [all] name in
            for store in all where name == nil || store.name == name { store.notice() }
        }
    }

    /// - Returns: `nil` where copies are made on the disk.
    package static func recentBases(of producer: Producer, _ following: Following) -> RecentBases? {
        guard !producer.isOfInbox, let memory = producer.options.memory else { return nil }
        return RecentBases(before: memory, producer.options.copy, within: following.memory)
    }

    deinit { for store in all { store.letGo() } }

    /// Runs what follows them, and has the memory written when it ends.
    package func whileFollowed(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            await recent?.settle()
            throw error
        }
        await recent?.settle()
    }
}
