import ArgumentParser
import ShipStore
import SystemPackage

/// Which device this is.
struct DeviceArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Where this device keeps its key and the list of those it trusts. (default: $XDG_CONFIG_HOME/ship-store, or \
            ~/.config/ship-store)
            """, valueName: "folder"), completion: .directory)
    var identity: String?

    var device: Device { Device(folder: identity.map { FilePath($0) }) }
}

enum DeviceIdentifierArgument {
    /// - Parameter device: Whose peers may be called by their names.
    static func read(_ text: String, knownTo device: Device) throws -> DeviceIdentifier {
        if let known = try device.peers().first(where: { $0.name.text == text }) { return known.id }
        do throws(DeviceIdentifierError) {
            return try DeviceIdentifier(text)
        } catch {
            throw ValidationError(
                "the value '\(text)' is invalid for '<id or name>': \(error.words); "
                    + "nor is it the name of a trusted device")
        }
    }
}

extension DeviceIdentifierError {
    fileprivate var words: String {
        switch self {
        case .badCharacter(let character): "\(character) stands in no id"
        case .badLength(let length, let expected):
            "an id has \(expected) letters and digits, in groups of five; that are \(length)"
        case .badGroup(let number, let group): "there is a slip in group \(number), \(group)"
        case .badEnd: "its last group is not one of an id"
        }
    }
}

struct PeerNameArgument: Hashable {
    let name: PeerName

    @Sendable static func read(_ text: String) throws -> PeerNameArgument {
        guard let name = PeerName(text) else {
            throw ValidationError("a device's name has 1 to 64 bytes, no control characters, and no space at its ends")
        }
        return PeerNameArgument(name: name)
    }
}

struct RoleArgument: Hashable {
    let role: TrustedPeer.Role

    @Sendable static func read(_ text: String) throws -> RoleArgument {
        guard let role = TrustedPeer.Role(rawValue: text) else {
            throw ValidationError("a device may be a sender or a receiver")
        }
        return RoleArgument(role: role)
    }
}

struct PairingCodeArgument: Hashable {
    let code: PairingCode

    @Sendable static func read(_ text: String) throws -> PairingCodeArgument {
        guard let code = PairingCode(text) else { throw ValidationError("a code has six digits, as in 482-913") }
        return PairingCodeArgument(code: code)
    }
}
