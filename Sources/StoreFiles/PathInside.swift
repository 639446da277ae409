import SystemPackage

/// A path in an open folder, in the system's form: names with slashes between them, and none is `.` or `..`.
///
/// It has bytes and no `FilePath`s: every call in an inbox goes through here, and without the optimizer splitting a `FilePath` takes a
/// hundred times as long as the call.
struct PathInside {
    /// The names, each with the NUL at its end.
    let names: [[CInterop.PlatformChar]]
    /// All of them, with slashes between them and a NUL at the end; `.` if there is none.
    let text: [CInterop.PlatformChar]

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
        let names = rest.split(separator: Self.slash, omittingEmptySubsequences: false)
        self.init(rest.isEmpty ? [] : names.map { $0 + [0] })
        guard self.names.allSatisfy({ ![[0], [Self.dot, 0], [Self.dot, Self.dot, 0]].contains($0) }) else { return nil }
    }

    private init(_ names: [[CInterop.PlatformChar]]) {
        self.names = names
        text = names.isEmpty ? [Self.dot, 0] : names.map { $0.dropLast() }.joined(separator: [Self.slash]) + [0]
    }

    /// Without the last name; `nil` if that leaves none.
    var above: PathInside? { names.count > 1 ? PathInside(names.dropLast()) : nil }

    private static func characters(of path: FilePath) -> [CInterop.PlatformChar] {
        path.withPlatformString { start in
            var characters: [CInterop.PlatformChar] = []
            while start[characters.count] != 0 { characters.append(start[characters.count]) }
            return characters
        }
    }
}
