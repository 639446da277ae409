import Foundation
import SystemPackage
import Testing

/// `Protocol/output.schema.json`, as far as JSON Schema is used there; stricter in one thing: a member that is not named
/// there is a fault, so that the page cannot fall behind.
struct OutputSchema: @unchecked Sendable {
    private let definitions: [String: Any]

    init() throws {
        let root = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
        let file = root.appending("Protocol").appending("output.schema.json")
        let schema = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: file.string)))
        definitions = try #require((schema as? [String: Any])?["$defs"] as? [String: Any])
    }

    /// - Returns: What is wrong with an object of a command; empty if nothing is.
    func faults(in object: Any, of command: String) -> [String] {
        // What is no command ends with an error, and nothing else.
        faults(object, ["$ref": "#/$defs/\(definitions[command] == nil ? "error" : command)"], at: command)
    }

    private func faults(_ value: Any, _ schema: [String: Any], at place: String) -> [String] {
        var schema = schema
        while let reference = schema["$ref"] as? String {
            guard let next = definitions[String(reference.dropFirst("#/$defs/".count))] as? [String: Any] else {
                return ["\(place): no \(reference)"]
            }
            schema = next
        }
        if let choices = schema["oneOf"] as? [[String: Any]] {
            let all = choices.map { faults(value, $0, at: place) }
            let fitting = all.count { $0.isEmpty }
            guard fitting != 1 else { return [] }
            // The nearest says most.
            return fitting == 0 ? all.min { $0.count < $1.count } ?? [] : ["\(place): fits \(fitting) at once"]
        }
        return typeFaults(value, schema, at: place) + memberFaults(value, schema, at: place)
    }

    private func typeFaults(_ value: Any, _ schema: [String: Any], at place: String) -> [String] {
        var faults: [String] = []
        let isFitting =
            switch schema["type"] as? String {
            case "string": value is String
            case "integer":
                isNumber(value) && (value as? NSNumber).map { $0.doubleValue.rounded() == $0.doubleValue } ?? false
            case "number": isNumber(value)
            case "boolean": isBoolean(value)
            case "array": value is [Any]
            case "object": value is [String: Any]
            case nil: true
            case let other?: other.isEmpty
            }
        if !isFitting { faults.append("\(place): \(value) is not of type \(schema["type"] ?? "")") }
        if let constant = schema["const"] as? String, value as? String != constant {
            faults.append("\(place): not \(constant)")
        }
        if let values = schema["enum"] as? [String], !values.contains(value as? String ?? "") {
            faults.append("\(place): \(value) is none of \(values)")
        }
        if let pattern = schema["pattern"] as? String, let text = value as? String,
            text.range(of: pattern, options: .regularExpression) == nil
        {
            faults.append("\(place): \(text) is not as \(pattern)")
        }
        if let number = (value as? NSNumber)?.doubleValue {
            if let least = schema["minimum"] as? Double, number < least { faults.append("\(place): below \(least)") }
            if let most = schema["maximum"] as? Double, number > most { faults.append("\(place): above \(most)") }
        }
        return faults
    }

    private func memberFaults(_ value: Any, _ schema: [String: Any], at place: String) -> [String] {
        if let list = value as? [Any], let items = schema["items"] as? [String: Any] {
            return list.enumerated().flatMap { faults($0.element, items, at: "\(place)[\($0.offset)]") }
        }
        guard let object = value as? [String: Any] else { return [] }
        let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
        let missing = (schema["required"] as? [String] ?? []).filter { object[$0] == nil }
        return missing.map { "\(place): no \($0)" }
            + object.sorted { $0.key < $1.key }.flatMap { key, member in
                guard let schema = properties[key] ?? (schema["additionalProperties"] as? [String: Any]) else {
                    return ["\(place): \(key) is not named"]
                }
                return faults(member, schema, at: "\(place).\(key)")
            }
    }

    /// Foundation's numbers and booleans are of one class on Linux.
    private func isBoolean(_ value: Any) -> Bool {
        guard value is Bool, let text = try? JSONSerialization.data(withJSONObject: [value]) else { return false }
        return text.contains(UInt8(ascii: "e"))
    }

    private func isNumber(_ value: Any) -> Bool { value is NSNumber && !isBoolean(value) }
}
