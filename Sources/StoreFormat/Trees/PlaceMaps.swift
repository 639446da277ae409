/// The maps of a store's trees, which its cursors share: each tree is gone through once.
package final class PlaceMaps {
    private var maps: [UInt32: PlaceMap] = [:]

    package init() {}

    func map(of root: UInt32, _ make: () throws -> PlaceMap) rethrows -> PlaceMap {
        if let map = maps[root] { return map }
        let map = try make()
        maps[root] = map
        return map
    }
}
