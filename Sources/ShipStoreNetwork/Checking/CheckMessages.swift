import EssentialFoundation
import ShipProtocol
import StoreServing
import SystemPackage

/// What a checker is told, as JSON on its standard input. The store is in the folder in which it runs.
struct CheckRequest: Codable {
    /// The name of the store's file.
    let file: String
    let claims: StoreClaims
    let limits: CheckLimits

    /// Longest, in bytes: what a manifest of the longest says of tables and external files, each character escaped.
    static let mostBytes = 16 * 1024 * 1024
}

/// What a checker says, as JSON on its standard output. A store may have taken it over, so it is read with care.
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
            case .checkerFailed: .unreadable(code: 1, message: "")
            case .file(let error): .file(error.errno.rawValue)
            }
    }
}
