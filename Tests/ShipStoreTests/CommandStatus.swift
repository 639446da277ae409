import ShipStore

extension ShipmentError {
    /// What the command line exits with: 65 where the data is bad, 76 where the protocol is broken.
    var commandStatus: Int32 { failureRule.exitStatus.rawValue }
}
