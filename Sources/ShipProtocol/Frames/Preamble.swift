/// The 16 bytes that each side sends first: the magic number, the versions that it speaks, its role, and whether it awaits an answer.
///
/// Source: `Protocol/README.md` section 3.1. Vectors: `preamble_*`.
package struct Preamble: Hashable, Sendable {
    /// In bytes.
    package static let size = 16
    /// The versions that this code speaks.
    package static let spokenVersions: ClosedRange<UInt8> = 1...1

    package let versions: ClosedRange<UInt8>
    package let role: Role
    package let mode: Mode

    package enum Role: UInt8, Hashable, Sendable {
        case producer = 1
        case consumer = 2
    }

    package enum Mode: UInt8, Hashable, Sendable {
        /// Nothing comes back.
        case oneWay = 1
        /// The consumer greets, answers and ends with a receipt or a refusal.
        case twoWay = 2
    }

    private static let magic: [UInt8] = [0x89, 0x53, 0x48, 0x49, 0x50, 0x0D, 0x0A, 0x1A]

    package init(versions: ClosedRange<UInt8> = spokenVersions, role: Role, mode: Mode) {
        self.versions = versions
        self.role = role
        self.mode = mode
    }

    /// - Parameter bytes: At least `size` of them; the rest is ignored.
    /// - Throws: `.truncated`, `.wrongMagic`, `.damaged(.preamble)`, or `.badPreamble` for a field out of range.
    package init(decoding bytes: [UInt8]) throws(ProtocolError) {
        guard Self.mayBegin(bytes) else { throw .wrongMagic }
        guard bytes.count >= Self.size else { throw .truncated }
        guard UInt32(crc32Of: bytes[..<12]) == UInt32(bigEndianBytes: bytes[12..<16]) else {
            throw .damaged(.preamble)
        }
        let (highest, lowest) = (bytes[8], bytes[9])
        guard 0 < lowest, lowest <= highest, let role = Role(rawValue: bytes[10]), let mode = Mode(rawValue: bytes[11]),
            (role, mode) != (.consumer, .oneWay)
        else { throw .badPreamble }
        self.init(versions: lowest...highest, role: role, mode: mode)
    }

    package static func begins(_ bytes: [UInt8]) -> Bool { bytes.starts(with: magic) }

    /// Whether a preamble may begin so, with more to come.
    package static func mayBegin(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: magic.prefix(bytes.count))
    }

    package var encoded: [UInt8] {
        var bytes = Self.magic + [versions.upperBound, versions.lowerBound, role.rawValue, mode.rawValue]
        bytes.append(bigEndian: UInt32(crc32Of: bytes))
        return bytes
    }

    /// The version of the session that begins with the other side's preamble and ours.
    ///
    /// - Throws: `.versionNotSupported` if there is none, `.wrongRole` if the other side has our own role.
    package func sessionVersion(with other: Preamble) throws(ProtocolError) -> UInt8 {
        guard other.role != role else { throw .wrongRole }
        let version =
            switch other.mode {
            case .oneWay: other.versions.upperBound
            case .twoWay: min(versions.upperBound, other.versions.upperBound)
            }
        guard versions.contains(version), other.versions.contains(version) else {
            throw .versionNotSupported(other.versions)
        }
        return version
    }
}
