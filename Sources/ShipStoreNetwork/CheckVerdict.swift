import ShipProtocol
import ShipStore
import StoreServing

/// The verdict of a checker, as JSON on its standard output. A hostile store may control the checker, so its output is not trusted.
enum CheckVerdict: Codable {
    case sound(CheckReport)
    case header
    case unsound(ForeignText)
    case contradictsManifest(ForeignText)
    case tookTooLong
    case tookTooMuchMemory
    case unreadable(code: Int32, message: ForeignText)
    /// The file cannot be read; errno.
    case file(Int32)

    /// Longest, in bytes.
    static let mostBytes = 16 * 1024

    init(_ flaw: StoreCheck.Flaw) {
        self =
            switch flaw {
            case .header: .header
            case .unsound(let complaint): .unsound(complaint)
            case .contradictsManifest(let member): .contradictsManifest(member)
            case .tookTooLong: .tookTooLong
            case .tookTooMuchMemory: .tookTooMuchMemory
            case .unreadable(let code, let message): .unreadable(code: code, message: message)
            case .checkerNotStarted, .checkerSignalled, .checkerExited, .checkerSaidNonsense:
                .unreadable(code: 1, message: "")
            case .file(let error): .file(error.errno.rawValue)
            }
    }
}
