/// The first byte of a frame. A receiver must know a type below 0x80; it may skip one from 0x80 on.
///
/// Source: `Protocol/README.md` section 3.2. Vectors: `header_*`, `frame_*`.
package enum FrameType: UInt8, Hashable, Sendable, CaseIterable {
    case hello = 0x01
    case manifest = 0x02
    case answer = 0x03
    case part = 0x04
    case data = 0x05
    case end = 0x06
    case receipt = 0x07
    case refusal = 0x08
    case cancel = 0x09
    case signature = 0x0A
    case compare = 0x0B
    case ranges = 0x0C
    case working = 0x81
    case stay = 0x83
    case askable = 0x84
    case question = 0x85
    case newest = 0x86

    /// Whether it only keeps a session going, and brings nothing of a shipment.
    var isWithoutContent: Bool {
        switch self {
        case .working, .stay, .askable, .question, .newest: true
        case .hello, .manifest, .answer, .part, .data, .end, .receipt, .refusal, .cancel, .signature, .compare,
            .ranges:
            false
        }
    }
    /// - Parameter flaw: The rule that a message of this type breaks.
    package func bad(_ flaw: ForeignText) -> ProtocolError { .badMessage(type: rawValue, flaw: flaw) }
}
