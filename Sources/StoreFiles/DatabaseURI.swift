package import SystemPackage

/// The names under which SQLite opens a file in a certain way. Source: sqlite.org/uri.html.
package enum DatabaseURI {
    /// Reads and writes, and never makes the file.
    package static func writing(_ path: FilePath) -> String { "file:\(escape(path))?mode=rw" }

    /// Reads a file that nobody changes: no lock is taken, and no sidecar is looked at.
    package static func immutable(_ path: FilePath) -> String { "file:\(escape(path))?immutable=1&mode=ro" }

    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-~".utf8)

    /// Escapes every byte that could mean something in a URI; a slash has to stay.
    private static func escape(_ path: FilePath) -> String {
        path.string.utf8.map { byte in
            plain.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }
}
