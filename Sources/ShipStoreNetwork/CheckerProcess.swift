import EssentialFoundation
import ShipProtocol
import ShipStore
import StoreFiles
import StoreServing
import SystemPackage

/// The inside of a process that only checks one store; `CheckerChild` is the outside.
public enum CheckerProcess {
    /// The only argument of a program that is started as a checker.
    public static let command = "check-store"

    /// Most open descriptors: the store, three standard streams, and files that SQLite and the system open for a moment.
    private static let descriptors = 16

    /// Checks the store that standard input names, and writes the verdict to standard output.
    ///
    /// Before it opens the store, this process gives up all rights that it could do harm with; it must end afterwards.
    ///
    /// - Returns: The exit status: 0 if there is a verdict.
    public static func run() -> Int32 {
        do {
            let bytes = try readAll(from: .standardInput, atMost: CheckRequest.mostBytes)
            let request = try JSONDecoder().decode(CheckRequest.self, from: Data(bytes))
            let verdict = verdict(on: request)
            let answer = try JSONEncoder().encode(verdict)
            try FileDescriptor.standardOutput.writeAll(answer)
            return 0
        } catch {
            return 1
        }
    }

    private static func verdict(on request: CheckRequest) -> CheckVerdict {
        let limits = request.limits
        // At least a second more than SQLite gets, so that SQLite reports its own timeout first.
        let seconds = Int(min(limits.time.components.seconds, 1_000_000)) + 2
        guard PlatformCalls.confineThisProcess(memory: limits.memory, seconds: seconds, descriptors: descriptors) else {
            return .file(Errno.notPermitted.rawValue)
        }
        do throws(StoreCheck.Flaw) {
            let check = StoreCheck(limits: limits)
            return .sound(
                try check.checkContent(of: FilePath(text: request.file), against: request.claims, inOwnProcess: true))
        } catch {
            return CheckVerdict(error)
        }
    }

    private static func readAll(from descriptor: FileDescriptor, atMost limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            var piece = [UInt8](repeating: 0, count: 65_536)
            let count = try piece.withUnsafeMutableBytes { try descriptor.read(into: $0) }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= limit else { throw Errno.messageTooLong }
        }
    }
}

/// The request to a checker, as JSON on its standard input. The store is in the folder in which the checker runs.
struct CheckRequest: Codable {
    /// The name of the store's file.
    let file: String
    let claims: StoreClaims
    let limits: CheckLimits

    /// Longest, in bytes: the tables and external files of the longest manifest, with each character escaped.
    static let mostBytes = 16 * 1024 * 1024
}

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
