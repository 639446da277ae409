import TestSupport
import Testing

extension ChildProgram.Outcome {
    /// What the program complains of, line by line; what it tells before that is left out.
    var complaints: [String] {
        stderr.split(separator: "\n").filter { $0.hasPrefix("ship-store: ") }.map(String.init)
    }

    /// Expects that the program ended with this status, and said just this, in the shape of every error: lower case, no
    /// full stop, nothing on standard output.
    func expectFailure(
        _ status: Int32, _ error: String, hint: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self.status == .exited(status), "\(stderr)", sourceLocation: sourceLocation)
        let expected = ["ship-store: error: \(error)"] + (hint.map { ["ship-store: hint: \($0)"] } ?? [])
        #expect(complaints == expected, sourceLocation: sourceLocation)
        #expect(stdout == "", sourceLocation: sourceLocation)
        for line in complaints { #expect(!line.hasSuffix("."), sourceLocation: sourceLocation) }
    }

    /// Expects that the program ended well.
    @discardableResult
    func expectSuccess(sourceLocation: SourceLocation = #_sourceLocation) -> Self {
        #expect(status == .exited(0), "\(stderr)", sourceLocation: sourceLocation)
        #expect(complaints == [], sourceLocation: sourceLocation)
        return self
    }
}
