/// Why a text is no device id.
public enum DeviceIdentifierError: Error, Hashable, Sendable {
    /// A character that no id contains.
    case badCharacter(String)
    /// The number of characters, without dashes and spaces.
    case badLength(Int, expected: Int)
    /// The group of this number, counted from 1, has a typing error.
    case badGroup(Int, String)
    /// Bits after the last byte are set.
    case badEnd
}
