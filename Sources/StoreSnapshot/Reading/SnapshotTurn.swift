/// Decides when a copy settles on a state of its store. It runs the step that begins the copy's read transaction; it may wait
/// before that step, and do after it what has to happen in the order of the states.
package struct SnapshotTurn: Sendable {
    /// - Parameters:
    ///   - check: Throws once the copy has been cancelled.
    ///   - begin: Begins the transaction, and says whether it is settled which state that sees; if not, it is begun anew.
    let run: @Sendable (_ check: () throws -> Void, _ begin: () throws -> Bool) throws -> Void

    /// - Parameter run: A copy that is taken anew calls it again, with another step: the last call counts.
    package init(_ run: @escaping @Sendable (_ check: () throws -> Void, _ begin: () throws -> Bool) throws -> Void) {
        self.run = run
    }

    /// Never waits.
    package static let free = SnapshotTurn { _, begin in _ = try begin() }
}
