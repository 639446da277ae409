import SystemPackage

/// A path in an open folder, in the system's form: names with slashes between them, and none is `.` or `..`.
///
/// It has bytes and no `FilePath`s: every call in an inbox goes through here, and without the optimizer splitting a `FilePath` takes a
/// hundred times as long as the call.
struct PathInside {
    /// The names of the folders on the way, each with the NUL at its end.
    let above: ArraySlice<[CInterop.PlatformChar]>
    /// The last name, with the NUL at its end; `.` if there is none.
    let name: [CInterop.PlatformChar]

    private static let slash = CInterop.PlatformChar(bitPattern: UInt8(ascii: "/"))
    private static let dot = CInterop.PlatformChar(bitPattern: UInt8(ascii: "."))

    /// - Returns: `nil` for a path that is not below the folder's, or contains `.` or `..`.
    init?(of path: FilePath, in folder: FilePath) {
        let (whole, prefix) = (Self.characters(of: path), Self.characters(of: folder))
        guard whole.starts(with: prefix) else { return nil }
        var rest = whole[prefix.count...]
        if rest.first == Self.slash, !prefix.isEmpty {
            rest = rest.dropFirst()
        } else if !rest.isEmpty, let last = prefix.last, last != Self.slash {
            return nil
        }
        let parts = rest.isEmpty ? [] : rest.split(separator: Self.slash, omittingEmptySubsequences: false)
        let names = parts.map { Array($0) + [0] }
        guard names.allSatisfy({ ![[0], [Self.dot, 0], [Self.dot, Self.dot, 0]].contains($0) }) else { return nil }
        (above, name) = (names.dropLast(), names.last ?? [Self.dot, 0])
    }

    private static func characters(of path: FilePath) -> [CInterop.PlatformChar] {
        path.withPlatformString { start in
            var characters: [CInterop.PlatformChar] = []
            while start[characters.count] != 0 { characters.append(start[characters.count]) }
            return characters
        }
    }
}
