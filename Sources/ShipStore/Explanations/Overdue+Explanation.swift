extension Overdue {
    var explanation: Explanation {
        switch self {
        case .manifest(let limit):
            Explanation(
                "the sender is still preparing the store after \(limit)",
                hint: "look at the sender; a receiver may wait longer with --prepare-timeout")
        case .answer(let limit):
            Explanation(
                "the receiver has not said for \(limit) whether it takes the shipment",
                hint:
                    "look at the receiver: another shipment of the store may be on its way; --work-timeout waits longer"
            )
        case .receipt(let limit):
            Explanation(
                "the receiver has had everything for \(limit), and has not installed it",
                hint: "look at the receiver, and whether it has installed it meanwhile; --work-timeout waits longer")
        }
    }
}
