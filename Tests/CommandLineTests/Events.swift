import Foundation
import TestSupport
import Testing

extension ChildProgram.Outcome {
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
