import Foundation
package import StoreFiles
package import SystemPackage

/// All that can be seen of a folder and what is in it, to find out whether anything changed.
package struct FolderListing: Equatable, CustomStringConvertible {
    package struct Entry: Equatable {
        package let name: String
        package let status: FileStatus
        /// Of a file; taken by another process, as a test's own look at a store would drop the locks that SQLite's
        /// connections in this process hold on it.
        package let sha256: String?

        /// Without the time at which the status changed: a link that came and went changes it.
        package static func == (left: Entry, right: Entry) -> Bool {
            let (one, other) = (left.status, right.status)
            return left.name == right.name && left.sha256 == right.sha256 && one.identity == other.identity
                && one.kind == other.kind && one.size == other.size && one.modified == other.modified
                && one.permissions == other.permissions && one.owner == other.owner && one.links == other.links
        }
    }
    package let entries: [Entry]

    package init(of folder: FilePath, ignoringContentOf ignored: Set<String> = []) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.string).sorted()
        entries = try names.map { name in
            let path = folder.pushing(FilePath(name))
            let status = try PlatformCalls.status(of: path)
            let hasDigest = status.kind == .file && !ignored.contains(name)
            return Entry(name: name, status: status, sha256: hasDigest ? try Self.sha256(of: path) : nil)
        }
    }

    package var names: [String] { entries.map(\.name) }

    package var description: String {
        entries.map { "\($0.name) \($0.status.size) \($0.status.modified) \($0.sha256 ?? "-")" }.joined(separator: "\n")
    }

    package static func sha256(of path: FilePath) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sha256sum", "--", path.string]
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: text.prefix(64), as: UTF8.self)
    }
}
