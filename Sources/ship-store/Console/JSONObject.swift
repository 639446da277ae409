import EssentialFoundation
import ShipStore
import StoreFiles
import SystemPackage

/// An object of JSON, as a literal of its members. A member that is `nil` is left out.
///
/// `Protocol/OUTPUT.md` says which members an object has, and the tests compare each line with its schema. An object inside another one
/// has to be said to be one: a plain dictionary would write `nil` as `null`.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    private var members: [String: any Encodable] = [:]

    init(dictionaryLiteral members: (String, (any Encodable)?)...) {
        for (name, value) in members { self.members[name] = value }
    }

    /// An event that has happened just now.
    static func event(_ name: String, _ members: JSONObject) -> JSONObject {
        JSONObject(dictionaryLiteral: ("event", name), ("time", now)).adding(members)
    }

    /// The same with the members of another object, too; a member of both stays as it is.
    func adding(_ other: JSONObject) -> JSONObject {
        var object = self
        object.members.merge(other.members) { own, _ in own }
        return object
    }

    /// The time of day, to the millisecond, UTC: `2026-11-20T19:04:05.123Z`.
    static var now: String {
        let (seconds, attoseconds) = PlatformCalls.timeOfDay.components
        let digits = String(1000 + attoseconds / 1_000_000_000_000_000).dropFirst()
        return "\(Timestamp(Date(timeIntervalSince1970: Double(seconds))).text.dropLast()).\(digits)Z"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in members { try container.encode(value, forKey: Name(stringValue: name)) }
    }
}
