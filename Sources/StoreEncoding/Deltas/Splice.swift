/// A change of a string: at one place, some bytes are removed and others inserted.
struct Splice: Hashable {
    /// Bytes that stay before and after that place.
    let before: Int
    let after: Int
    /// Bytes of the old string that are removed.
    let removed: Int
    let inserted: ArraySlice<UInt8>

    init(from old: ArraySlice<UInt8>, to new: ArraySlice<UInt8>) {
        let most = min(old.count, new.count)
        var (before, after) = (0, 0)
        old.withUnsafeBufferPointer { old in
            new.withUnsafeBufferPointer { new in
                while before < most, old[before] == new[before] { before += 1 }
                while after < most - before, old[old.count - 1 - after] == new[new.count - 1 - after] { after += 1 }
            }
        }
        self.before = before
        self.after = after
        removed = old.count - before - after
        inserted = new.dropFirst(before).dropLast(after)
    }

    /// - Returns: `nil` if the old string is too short.
    static func apply(
        to old: ArraySlice<UInt8>, before: Int, removed: Int, _ inserted: ArraySlice<UInt8>
    ) -> ArraySlice<UInt8>? {
        guard before >= 0, removed >= 0, before <= old.count, removed <= old.count - before else { return nil }
        return old.prefix(before) + inserted + old.dropFirst(before + removed)
    }
}
