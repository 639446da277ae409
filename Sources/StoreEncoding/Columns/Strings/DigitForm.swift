import ShipCompression

/// How digits in a text stand for bytes.
///
/// Source: `Protocol/COLUMNS.md` 2, "Digits".
enum DigitForm: Hashable, Sendable {
    case hex(HexDigits)
    /// 8-4-4-4-12 digits.
    case uuid(HexDigits)
    case base64(Base64Form)

    private static let uuidSize = 16
    private static let (firstUUID, firstBase64, firstOfLines, numbers): (UInt8, UInt8, UInt8, UInt8) = (2, 4, 8, 12)

    func write(into areas: inout SegmentAreas) {
        switch self {
        case .hex(let digits): areas.tag(digits.number)
        case .uuid(let digits): areas.tag(Self.firstUUID + digits.number)
        case .base64(let form):
            guard let lines = form.lines else { return areas.tag(Self.firstBase64 + form.number) }
            areas.tag(Self.firstOfLines + form.number)
            areas.tag(UInt8(truncatingIfNeeded: lines.length))
            areas.tag(UInt8(truncatingIfNeeded: lines.ending.count))
            for byte in lines.ending { areas.tag(byte) }
        }
    }

    init(from source: inout SegmentReader) throws(CompressionError) {
        let number = try source.control.byte()
        switch number {
        case ..<Self.firstUUID: self = .hex(number == 0 ? .upper : .lower)
        case ..<Self.firstBase64: self = .uuid(number == Self.firstUUID ? .upper : .lower)
        case ..<Self.numbers:
            var form = Base64Form.all[Int(number % 4)]
            if number >= Self.firstOfLines {
                let (length, count) = (Int(try source.control.byte()), Int(try source.control.byte()))
                guard length > 0, 1...SegmentLimits.lineEnding ~= count else { throw .damaged(.segment) }
                var ending: [UInt8] = []
                for _ in 0..<count { ending.append(try source.control.byte()) }
                form.lines = Base64Lines(length: length, ending: ending)
            }
            self = .base64(form)
        default: throw .damaged(.segment)
        }
    }

    /// Bytes of text that so many bytes take; `nil` if there can be no such run.
    func size(of count: Int) -> Int? {
        switch self {
        case .hex: 2 * count
        case .uuid: count == Self.uuidSize ? HexDigits.uuidLength : nil
        case .base64(let form): form.size(of: count)
        }
    }

    /// Appends the digits of bytes.
    func append(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
        switch self {
        case .hex(let digits): digits.append(bytes, to: &text)
        case .uuid(let digits): digits.appendUUID(of: bytes, to: &text)
        case .base64(let form): form.append(bytes, to: &text)
        }
    }
}

extension HexDigits {
    fileprivate var number: UInt8 { self == .upper ? 0 : 1 }
}
