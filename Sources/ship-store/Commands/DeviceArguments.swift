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

struct DeviceIdentifierArgument: Hashable {
    let id: DeviceIdentifier

    @Sendable static func read(_ text: String) throws -> DeviceIdentifierArgument {
        do throws(DeviceIdentifierError) {
            return DeviceIdentifierArgument(id: try DeviceIdentifier(text))
        } catch {
            throw ValidationError(error.words)
        }
    }
}

extension DeviceIdentifierError {
    fileprivate var words: String {
        switch self {
        case .badCharacter(let character): "\(Printable.text(character)) stands in no id"
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
