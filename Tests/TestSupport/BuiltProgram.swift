import Foundation
import StoreFiles
package import SystemPackage

/// `ship-store` as a user has it: the program that `SHIP_STORE_PROGRAM` names, as `make test` does with the one that ships,
/// or else the one that was built with these tests.
package enum BuiltProgram {
    /// There is no such program.
    package struct NotFound: Error {}

    /// The variable of the environment that names the program to test.
    package static let variable = "SHIP_STORE_PROGRAM"

    package static func path() throws -> FilePath { try program("ship-store") }

    /// A program that is built together with `ship-store`, and lies beside it.
    package static func program(_ name: String) throws -> FilePath {
        guard let folder, isFile(folder.appending(name)) else { throw NotFound() }
        return folder.appending(name)
    }

    /// Where the programs are. It is said once which they are: a test of another program than the one that was meant
    /// proves nothing.
    private static let folder: FilePath? = {
        let folder = if let named { isFile(named) ? named.removingLastComponent() : nil } else { besideTests }
        let words = folder.map { "testing the programs in \($0)" } ?? "there is no program to test"
        try? FileHandle.standardError.write(contentsOf: Data("\(words)\n".utf8))
        return folder
    }()

    private static var named: FilePath? {
        ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : FilePath($0) }
    }

    /// The programs lie in the folder of the products, as do the tests: somewhere above what runs them.
    private static var besideTests: FilePath? {
        let starts = [Bundle.main.executablePath, Bundle.main.bundlePath].compactMap(\.self) + CommandLine.arguments
        for start in starts {
            var folder = FilePath(start)
            while folder.lastComponent != nil {
                folder.removeLastComponent()
                if isFile(folder.appending("ship-store")) { return folder }
            }
        }
        return nil
    }

    private static func isFile(_ path: FilePath) -> Bool {
        (try? PlatformCalls.statusFollowingLinks(of: path))?.kind == .file
    }

    /// Runs it to its end.
    ///
    /// - Parameters:
    ///   - environment: Changes to this process's own.
    ///   - timeout: When it is killed, and `ChildProgram.TimedOut` thrown.
    package static func run(
        _ arguments: [String], input: ChildProgram.Input = .nothing, environment: [String: String] = [:],
        in folder: FilePath? = nil, timeout: Duration = .seconds(60)
    ) async throws -> ChildProgram.Outcome {
        try await start(arguments, input: input, environment: environment, in: folder).wait(timeout: timeout)
    }

    /// Starts it; it is killed when the last reference to the result goes.
    package static func start(
        _ arguments: [String], input: ChildProgram.Input = .nothing, environment: [String: String] = [:],
        in folder: FilePath? = nil
    ) throws -> ChildProgram {
        try ChildProgram(try path(), arguments, input: input, environment: environment, in: folder)
    }
}
