/// When the state of a store that is copied may be settled: what begins the copy's read transaction is run by this, which may
/// wait first, and do afterwards what has to be in the same order as the states.
package struct SnapshotTurn: Sendable {
    /// - Parameters:
    ///   - mayGoOn: Throws once the copy is not wanted any more.
    ///   - begin: Begins the transaction, and says whether it is settled by then what that sees; if not, it is begun anew.
    let run: @Sendable (_ mayGoOn: () throws -> Void, _ begin: () throws -> Bool) throws -> Void

    /// - Parameter run: It may be called again, with another step, if the copy has to be taken anew: the last call counts.
    package init(_ run: @escaping @Sendable (_ mayGoOn: () throws -> Void, _ begin: () throws -> Bool) throws -> Void) {
        self.run = run
    }

    /// Whenever it likes.
    package static let free = SnapshotTurn { _, begin in _ = try begin() }
}
