import SystemPackage
import TestSupport
import Testing

extension BuiltProgram {
    /// Runs it to its end, which has to be a success.
    @discardableResult
    static func expectSuccess(
        _ arguments: [String], environment: [String: String] = [:], in folder: FilePath? = nil, _ comment: Comment = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ChildProgram.Outcome {
        let outcome = try await run(arguments, environment: environment, in: folder)
        #expect(outcome.status == .exited(0), "\(comment) \(outcome.stderr)", sourceLocation: sourceLocation)
        return outcome
    }
}
