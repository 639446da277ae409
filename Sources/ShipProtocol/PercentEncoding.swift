extension String {
    /// Bytes as they stand in a URI: all but unreserved characters, and those that are kept, are encoded.
    ///
    /// Source: RFC 3986 sections 2.1 and 2.3.
    package init(percentEncoding bytes: some Sequence<UInt8>, keeping kept: UInt8? = nil) {
        self = bytes.map { byte in
            byte.isOfName || byte == UInt8(ascii: "~") || byte == kept
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
