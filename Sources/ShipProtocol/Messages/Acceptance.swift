/// The payload of ACCEPT: the consumer awaits every part but these.
///
/// Source: `Protocol/README.md` section 5.2. Vectors: `accept_*`.
package struct Acceptance: Hashable, Sendable {
    /// Rising indexes of parts, or `nil` for none.
    package let skip: [Int]?
    /// Whether the store, which came by its rows and did not come to what the manifest says, is to come again in blocks.
    package let plainly: Bool?

    /// The answer to a manifest.
    package init(skipping parts: Set<Int>) {
        skip = parts.isEmpty ? nil : parts.sorted()
        plainly = nil
    }

    /// The answer to END, where the store is wanted once more and nothing else is.
    package init(askingAgainFor manifest: Manifest) {
        let others = Array(manifest.parts.indices.dropFirst())
        skip = others.isEmpty ? nil : others
        plainly = true
    }

    package var skippedParts: Set<Int> { Set(skip ?? []) }
    package var asksAgain: Bool { plainly ?? false }
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
