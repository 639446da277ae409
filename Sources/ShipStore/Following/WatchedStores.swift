import StoreFiles

/// The stores that a producer ships again whenever they change, and what watches them.
package final class WatchedStores: Sendable {
    let all: [WatchedStore]
    private let watch: FileWatch
    private let registration: Registration

    /// - Parameter isShared: Whether several receivers may come for them.
    /// - Throws: What is wrong with a store: all have to be there at the start.
    package init(of producer: Producer, _ following: Following, isShared: Bool) throws(ShipmentError) {
        let copying = producer.options.copy
        // What a killed sender has left, also where no copy is taken for a while.
        TemporaryFolder.sweep(copying.temporaryFolder, .temporary)
        producer.options.memory?.tidy()
        do {
            let all = try producer.shippable { (_, _) throws(ShipmentError) in }.map {
                WatchedStore($0, copying, following, isShared: isShared)
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

    deinit { for store in all { store.letGo() } }
}
