import ArgumentParser
import ShipStore
import SystemPackage

/// Which device this is.
struct DeviceArguments: ParsableArguments {
    @Option(
        """
        Where this device keeps its key and the list of those it trusts. (default: $XDG_CONFIG_HOME/ship-store, or ~/.config/ship-store)
        """, .folder)
    var identity: FilePath?

    var device: Device { Device(folder: identity) }
}

extension DeviceIdentifier {
    /// Reads an id, or the name of a known device.
    static func read(_ text: String, knownTo device: Device) throws -> DeviceIdentifier {
        if let known = try device.peers().first(where: { $0.name.text == text }) { return known.id }
        do throws(DeviceIdentifierError) {
            return try DeviceIdentifier(text)
        } catch {
            guard PeerName(text) == nil else { throw device.noSuchPeer(text) }
            throw ValidationError("the value '\(text)' is invalid for '<id or name>': \(error.words)")
        }
    }
}

extension DeviceIdentifierError {
    var words: String {
        switch self {
        case .badCharacter(let character): "\(character) stands in no id or key"
        case .badLength(let length, let expected):
            "an id or key has \(expected) letters and digits, in groups of five; these are \(length)"
        case .badGroup(let number, let group): "there is a slip in group \(number), \(group)"
        case .badEnd: "its last group is not one of an id or key"
        }
    }
}

extension PeerName {
    static let rule: PrintableText =
        "a device's name has 1 to 64 bytes, no control characters, and no space at its ends"

    @Sendable static func read(_ text: String) throws -> PeerName {
        guard let name = PeerName(text) else { throw ValidationError(rule.text) }
        return name
    }
}

extension TrustedPeer.Role {
    @Sendable static func read(_ text: String) throws -> TrustedPeer.Role {
        guard let role = TrustedPeer.Role(rawValue: text) else {
            throw ValidationError("a device may be a sender, a receiver or a relay")
        }
        return role
    }
}

extension TrustedPeer {
    /// Its rights, in words.
    var rights: String {
        let what =
            switch stores {
            case .all: "every store"
            case .only(let names) where names.isEmpty: "no store"
            case .only(let names): names.sorted().map(\.text).joined(separator: ", ")
            }
        let verbs = [(Role.sender, "send"), (Role.receiver, "receive"), (Role.relay, "pass on")].filter {
            roles.contains($0.0)
        }.map(\.1)
        let may = verbs.isEmpty ? "may do nothing" : "may \(verbs.joined(separator: " and ")) \(what)"
        let takenOver = takesOver.sorted().map(\.text).joined(separator: ", ")
        return takenOver.isEmpty ? may : "\(may); takes over \(takenOver)"
    }
}
