import Foundation

/// The places in a JSON document at which somebody else may write what they like: each string, each name of a member, and,
/// with a text where none is meant, each number.
struct JSONPlaces {
    private let root: Any

    init(_ json: [UInt8]) throws {
        root = try JSONSerialization.jsonObject(with: Data(json), options: [.fragmentsAllowed])
    }

    /// `store.sha256`, `externalFiles.0.name#` for the name of a member.
    var paths: [String] { Self.paths(in: root, "") }

    private static func paths(in value: Any, _ path: String) -> [String] {
        switch value {
        case let object as [String: Any]:
            object.keys.sorted().flatMap { key in
                let inner = path.isEmpty ? key : "\(path).\(key)"
                return [inner + "#"] + paths(in: object[key] ?? 0, inner)
            }
        case let array as [Any]: array.indices.flatMap { paths(in: array[$0], "\(path).\($0)") }
        default: [path]
        }
    }

    /// The document with a text in one of its places.
    func document(with text: String, at path: String) throws -> [UInt8] {
        let isName = path.hasSuffix("#")
        let keys = (isName ? path.dropLast() : Substring(path)).split(separator: ".").map(String.init)
        let changed = Self.changed(root, keys[...], text, isName)
        return Array(try JSONSerialization.data(withJSONObject: changed, options: [.sortedKeys]))
    }

    private static func changed(_ value: Any, _ keys: ArraySlice<String>, _ text: String, _ isName: Bool) -> Any {
        guard let key = keys.first else { return text }
        if var object = value as? [String: Any] {
            let inner = object.removeValue(forKey: key) ?? 0
            let isLast = keys.count == 1
            object[isName && isLast ? text : key] =
                isName && isLast ? inner : changed(inner, keys.dropFirst(), text, isName)
            return object
        }
        if var array = value as? [Any], let index = Int(key), array.indices.contains(index) {
            array[index] = changed(array[index], keys.dropFirst(), text, isName)
            return array
        }
        return value
    }
}
