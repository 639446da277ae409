import ShipStore

extension GenerationPruning.Outcome {
    /// For programs.
    var word: String {
        switch self {
        case .removed, .held: rawValue
        case .superfluous: "would-remove"
        }
    }

    var words: String {
        switch self {
        case .removed: "removed"
        case .held: "held   "
        case .superfluous: "would go"
        }
    }
}
