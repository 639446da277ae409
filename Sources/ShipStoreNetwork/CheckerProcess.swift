import EssentialFoundation
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
