import Foundation
import StoreFiles
package import SystemPackage

/// What a power cut may leave of a folder: of each file the bytes, and of each folder the names, as they were when they were last synced,
/// or as they are, and of bytes any mixture of both. `FaultShim` keeps what is synced.
///
/// Files and folders are known by their inodes: the file system must not use one again soon, as one in memory does not.
package struct CutDisk {
    /// Where the shim keeps what is synced.
    package let kept: FilePath
    private let root: FilePath
    private let status: FileStatus
    private let before: [UInt64: Content]

    private enum Content {
        case file([UInt8])
        case folder([String: Entry])
        case symbolicLink(FilePath)
    }

    private struct Entry: Hashable {
        let inode: UInt64
        let isFolder: Bool
    }

    /// What is lost of what was not synced.
    package enum Loss: Hashable, Sendable, CustomStringConvertible {
        case everything, names, bytes
        case some(seed: UInt64)

        /// The worst ones, and mixtures.
        package static func all(mixtures: Int, from seed: UInt64) -> [Loss] {
            [.everything, .names, .bytes] + (0..<UInt64(mixtures)).map { .some(seed: seed &+ $0) }
        }

        package var description: String {
            switch self {
            case .everything: "all that was not synced is lost"
            case .names: "names that were not synced are lost"
            case .bytes: "bytes that were not synced are lost"
            case .some(let seed): "some is lost of what was not synced, seed \(seed)"
            }
        }
    }

    /// - Parameters:
    ///   - root: All that is in it now is on the medium.
    ///   - kept: An empty folder elsewhere.
    package init(of root: FilePath, keepingIn kept: FilePath) throws {
        self.root = root
        self.kept = kept
        status = try PlatformCalls.status(of: root)
        before = try Self.contents(of: root)
    }

    private static func contents(of path: FilePath) throws -> [UInt64: Content] {
        let status = try PlatformCalls.status(of: path)
        switch status.kind {
        case .file: return [status.inode: .file(try bytes(of: path))]
        case .symbolicLink: return [status.inode: .symbolicLink(try PlatformCalls.targetOfSymbolicLink(at: path))]
        case .pipe, .socket, .characterDevice, .other: return [:]
        case .folder:
            var (found, entries): ([UInt64: Content], [String: Entry]) = ([:], [:])
            for name in try Folder.names(in: path) {
                let status = try PlatformCalls.status(of: path.appending(name))
                entries[name] = Entry(inode: status.inode, isFolder: status.kind == .folder)
                found.merge(try contents(of: path.appending(name))) { $1 }
            }
            found[status.inode] = .folder(entries)
            return found
        }
    }

    private static func bytes(of path: FilePath) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: path.string)))
    }

    /// What was synced last of each.
    private func synced() throws -> [UInt64: Content] {
        var found: [UInt64: (time: UInt64, content: Content)] = [:]
        for name in try Folder.names(in: kept) {
            let path = kept.appending(name)
            let numbers = (path.stem ?? "").split(separator: "-").compactMap { UInt64($0) }
            guard numbers.count == 3, numbers[1] == status.device else { continue }
            let bytes = try Self.bytes(of: path)
            if let known = found[numbers[2]], known.time > numbers[0] { continue }
            found[numbers[2]] = (
                numbers[0], path.extension == "folder" ? .folder(Self.entries(in: bytes)) : .file(bytes)
            )
        }
        return found.mapValues(\.content)
    }

    /// Reads what getdents64(2) gives: the inode, 8 bytes; 8 more; the length of the entry, 2 bytes; its kind; and its name.
    private static func entries(in bytes: [UInt8]) -> [String: Entry] {
        func number(at offset: Int, _ size: Int) -> UInt64 {
            bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        var (found, offset): ([String: Entry], Int) = ([:], 0)
        while offset + 19 <= bytes.count {
            let length = Int(number(at: offset + 16, 2))
            let name = String(decoding: bytes[(offset + 19)..<(offset + length)].prefix { $0 != 0 }, as: UTF8.self)
            if name != ".", name != ".." {
                found[name] = Entry(inode: number(at: offset, 8), isFolder: bytes[offset + 18] == 4)
            }
            offset += length
        }
        return found
    }

    /// Makes a folder as a cut at this moment may leave it.
    package func make(_ target: FilePath, losing loss: Loss) throws {
        var image = Image(
            durable: before.merging(try synced()) { $1 }, now: try Self.contents(of: root), losesNames: loss != .bytes,
            losesBytes: loss != .names, random: nil)
        if case .some(let seed) = loss { image.random = RepeatableRandom(seed: seed) }
        try image.make(Entry(inode: status.inode, isFolder: true), at: target)
    }

    private struct Image {
        let durable: [UInt64: Content]
        let now: [UInt64: Content]
        let losesNames: Bool
        let losesBytes: Bool
        var random: RepeatableRandom?

        /// Bytes that a disk writes at once.
        private static let sector = 512

        mutating func make(_ entry: Entry, at path: FilePath) throws {
            if entry.isFolder {
                try PlatformCalls.makeFolder(path)
                for (name, entry) in names(of: entry.inode).sorted(by: { $0.key < $1.key }) {
                    try make(entry, at: path.appending(name))
                }
            } else if case .symbolicLink(let target)? = now[entry.inode] ?? durable[entry.inode] {
                try PlatformCalls.symbolicLink(at: path, to: target)
            } else {
                try OpenFile.creating(path).write(bytes(of: entry.inode))
            }
        }

        private mutating func names(of inode: UInt64) -> [String: Entry] {
            func names(_ content: Content?) -> [String: Entry]? {
                if case .folder(let names)? = content { names } else { nil }
            }
            let synced = names(durable[inode]) ?? [:]
            guard let new = names(now[inode]) else { return synced }
            if random != nil { return flip() ? new : synced }
            return losesNames ? synced : new
        }

        private mutating func bytes(of inode: UInt64) -> [UInt8] {
            func bytes(_ content: Content?) -> [UInt8]? {
                if case .file(let bytes)? = content { bytes } else { nil }
            }
            let synced = bytes(durable[inode]) ?? []
            guard let new = bytes(now[inode]), new != synced else { return synced }
            guard random != nil else { return losesBytes ? synced : new }
            return mixture(of: synced, new)
        }

        private mutating func mixture(of synced: [UInt8], _ new: [UInt8]) -> [UInt8] {
            var mixed = flip() ? new : Array(new.prefix(synced.count)) + synced.dropFirst(new.count)
            for start in stride(from: 0, to: min(synced.count, mixed.count), by: Self.sector) where flip() {
                let end = min(start + Self.sector, synced.count, mixed.count)
                mixed.replaceSubrange(start..<end, with: synced[start..<end])
            }
            return mixed
        }

        private mutating func flip() -> Bool { (random?.next() ?? 0) & 1 == 0 }
    }
}
