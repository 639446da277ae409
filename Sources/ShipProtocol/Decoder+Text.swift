extension Decoder {
    /// Decodes a text, and the value that it stands for.
    ///
    /// - Parameters:
    ///   - flaw: What is wrong where it stands for none.
    ///   - parse: `nil` for such a text.
    package func value<Value>(orFlaw flaw: String, _ parse: (String) -> Value?) throws -> Value {
        guard let value = parse(try String(from: self)) else {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: flaw))
        }
        return value
    }
}
