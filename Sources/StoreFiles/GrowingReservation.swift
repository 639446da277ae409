import StoreFormat

/// Space that is reserved bit by bit, as it is needed.
package struct GrowingReservation: SpillSpace {
    private let reservation: DiskReservation
    private let explain: @Sendable (DiskReservation.Refusal) -> any Error

    /// - Parameter explain: Makes of a refusal the error that the writer throws.
    package init(_ reservation: DiskReservation, explain: @escaping @Sendable (DiskReservation.Refusal) -> any Error) {
        self.reservation = reservation
        self.explain = explain
    }

    package func take(_ bytes: Int64) throws {
        do throws(DiskReservation.Refusal) {
            try reservation.extend(by: bytes)
        } catch {
            throw explain(error)
        }
    }

    package func wrote(_ bytes: Int64) { reservation.use(bytes) }

    package func giveBack(_ bytes: Int64) { reservation.shrink(by: bytes) }
}
