import ShipProtocol
import StoreFiles
import StoreInstall

/// A temporary inbox for the way around a state that a receiver refuses: it takes whatever is whole and from a trusted device.
///
/// Source: `Protocol/PUBLISHED.md` section 4.
struct Detour: ~Copyable {
    let consumer: Consumer
    private let folder: TemporaryFolder

    init(around receiver: Consumer) throws {
        let folder = try TemporaryFolder()
        var options = receiver.options
        (options.kept, options.keptFor) = (1, nil)
        (options.requirements, options.probes, options.budget) = (StoreRequirements(), [], ShipmentBudget())
        (options.allowsEmpty, options.keepsPermissions) = (true, true)
        consumer = try Consumer(inbox: folder.path.appending("inbox"), options: options)
        self.folder = folder
    }
}

extension ShipmentError {
    /// Whether a receiver refuses one state of a store, and may take a later one.
    var isOfState: Bool {
        switch self {
        case .unwelcome, .probe, .tooMuch, .install(.otherStore), .install(.rolledBack): true
        default: false
        }
    }
}
