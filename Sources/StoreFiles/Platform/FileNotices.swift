import CLibrary
import ShipProtocol
package import SystemPackage

/// The platform's notices of changed names in folders, and of changed content of files: inotify(7) on Linux. On other platforms the
/// initializer fails, and the caller polls instead.
package struct FileNotices: ~Copyable, Sendable {
    /// To wait for notices.
    package let descriptor: FileDescriptor

    deinit { try? descriptor.close() }

    #if canImport(Glibc) || canImport(Musl)
        private static let folderEvents = UInt32(
            IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
        private static let fileEvents = UInt32(IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF)
        /// The watched file or folder itself has gone, or notices have been dropped.
        private static let endings = UInt32(IN_Q_OVERFLOW | IN_IGNORED | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF)
        /// Room for many notices at a time, in bytes; one takes at most 16 and `NAME_MAX` and a NUL.
        private static let bufferSize = 16 * 1024

        package init() throws(FileError) {
            let raw = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
            guard raw >= 0 else { throw FileError(.watch, "", .last) }
            descriptor = FileDescriptor(rawValue: raw)
        }

        /// Begins to watch a folder. A symbolic link is followed.
        ///
        /// - Returns: The number by which notices name the folder.
        package func watch(_ folder: FilePath) throws(FileError) -> CInt { try watch(folder, Self.folderEvents) }

        /// Begins to watch the content of a file. A symbolic link is followed.
        ///
        /// - Returns: The number by which notices name the file.
        package func watch(contentOf file: FilePath) throws(FileError) -> CInt { try watch(file, Self.fileEvents) }

        private func watch(_ path: FilePath, _ events: UInt32) throws(FileError) -> CInt {
            let number = path.withPlatformString { inotify_add_watch(descriptor.rawValue, $0, events) }
            guard number >= 0 else { throw FileError(.watch, path, .last) }
            return number
        }

        /// The notices so far, without waiting.
        ///
        /// - Returns: The names that were made, removed or renamed, as in `PathText`, each with the number of its folder; a file whose content
        ///   has changed, with no name; `nil` if anything may have changed: what is watched was itself moved or removed, or the system
        ///   has dropped notices.
        package func take() -> [(watched: CInt, name: String)]? {
            var notices: [(watched: CInt, name: String)]? = []
            withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 8) { buffer in
                while let count = try? descriptor.read(into: buffer), count > 0 {
                    Self.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: &notices)
                }
            }
            return notices
        }

        private static func add(_ bytes: UnsafeRawBufferPointer, to notices: inout [(watched: CInt, name: String)]?) {
            let headerSize = MemoryLayout<inotify_event>.size
            var offset = 0
            while offset + headerSize <= bytes.count {
                let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                let end = min(offset + headerSize + Int(event.len), bytes.count)
                let name = PathText.text(of: Array(bytes[(offset + headerSize)..<end].prefix { $0 != 0 }))
                offset = end
                if event.mask & endings != 0 {
                    notices = nil
                } else {
                    notices?.append((event.wd, name))
                }
            }
        }
    #else
        package init() throws(FileError) { throw FileError(.watch, "", .notSupported) }

        package func watch(_ folder: FilePath) throws(FileError) -> CInt {
            throw FileError(.watch, folder, .notSupported)
        }

        package func watch(contentOf file: FilePath) throws(FileError) -> CInt {
            throw FileError(.watch, file, .notSupported)
        }

        package func take() -> [(watched: CInt, name: String)]? { nil }
    #endif
}
