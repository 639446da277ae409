import Foundation
import StoreFiles
package import SystemPackage

/// `ship-store` as it was built with these tests.
package enum BuiltProgram {
    /// There is no program beside the tests.
    package struct NotFound: Error {}

    /// The program lies in the folder of the products, as do the tests: somewhere above what runs them.
    package static func path() throws -> FilePath {
        guard let found else { throw NotFound() }
        return found
    }

    private static let found: FilePath? = {
        let starts = [Bundle.main.executablePath, Bundle.main.bundlePath].compactMap(\.self) + CommandLine.arguments
        for start in starts {
            var folder = FilePath(start)
            while folder.lastComponent != nil {
                folder.removeLastComponent()
                let program = folder.appending("ship-store")
                if (try? PlatformCalls.statusFollowingLinks(of: program))?.kind == .file { return program }
            }
        }
        return nil
    }()

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
