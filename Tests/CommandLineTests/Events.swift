import Foundation
import TestSupport
import Testing

extension ChildProgram.Outcome {
    private static let schema = Result { try OutputSchema() }

    /// Expects that each line is as `Protocol/OUTPUT.md` says, and that an error is the last.
    func expectOutput(of command: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let (schema, objects) = (try Self.schema.get(), try objects())
        for object in objects {
            let faults = schema.faults(in: object, of: command)
            #expect(faults == [], "\(object)", sourceLocation: sourceLocation)
        }
        let errors = objects.indices.filter { objects[$0]["event"] as? String == "error" }
        guard case .exited(let status) = self.status, status > 0 else {
            #expect(errors == [], sourceLocation: sourceLocation)
            return
        }
        #expect(errors == [objects.count - 1], "\(objects)", sourceLocation: sourceLocation)
        #expect(objects.last?["status"] as? Int32 == status, sourceLocation: sourceLocation)
    }

    /// Every line of standard output, which is one JSON object.
    func objects() throws -> [[String: Any]] {
        try lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
    }

    /// The same, where each object says which event it is.
    func events() throws -> [[String: Any]] {
        let objects = try objects()
        #expect(objects.allSatisfy { $0["event"] is String })
        return objects
    }

    /// The names of the events, each once, in order.
    func eventNames() throws -> [String] {
        var names: [String] = []
        for case let name as String in try events().map({ $0["event"] }) where !names.contains(name) {
            names.append(name)
        }
        return names
    }
}
