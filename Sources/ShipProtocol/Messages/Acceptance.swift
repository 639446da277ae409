/// The payload of ACCEPT: the consumer awaits the blocks of every part but these.
///
/// Source: `Protocol/README.md` section 5.2. Vectors: `accept_*`.
package struct Acceptance: Hashable, Sendable {
    /// Rising indexes of parts, or `nil` for none.
    package let skip: [Int]?

    package init(skipping parts: Set<Int>) {
        skip = parts.isEmpty ? nil : parts.sorted()
    }

    package var skippedParts: Set<Int> { Set(skip ?? []) }
}

extension Acceptance: Message {
    var firstFlaw: String? {
        let skip = skip ?? []
        guard skip.count <= Limits.externalFiles + 1, skip.allSatisfy({ (0...Limits.externalFiles).contains($0) }),
            zip(skip, skip.dropFirst()).allSatisfy({ $0 < $1 })
        else { return "skip is not a rising list of parts" }
        return nil
    }
}
