import ShipProtocol
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The platform's notices of changed names in folders: inotify(7) on Linux. On other platforms the initializer fails, and the caller
/// polls instead.
package struct FolderNotices: ~Copyable, Sendable {
    /// To wait for notices.
    package let descriptor: FileDescriptor

    deinit { try? descriptor.close() }

    #if canImport(Glibc) || canImport(Musl)
        private static let events = UInt32(
            IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
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
        package func watch(_ folder: FilePath) throws(FileError) -> CInt {
            let number = folder.withPlatformString { inotify_add_watch(descriptor.rawValue, $0, Self.events) }
            guard number >= 0 else { throw FileError(.watch, folder, .last) }
            return number
        }

        /// The notices so far, without waiting.
        ///
        /// - Returns: The names that were made, removed or renamed, as in `PathText`, each with the number of its folder; `nil` if anything may have
        ///   changed: a watched folder itself was moved or removed, or the system has dropped notices.
        package func take() -> [(folder: CInt, name: String)]? {
            var notices: [(folder: CInt, name: String)]? = []
            withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 8) { buffer in
                while let count = try? descriptor.read(into: buffer), count > 0 {
                    Self.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: &notices)
                }
            }
            return notices
        }

        private static func add(
            _ bytes: UnsafeRawBufferPointer, to notices: inout [(folder: CInt, name: String)]?
        ) {
            let headerSize = MemoryLayout<inotify_event>.size
            var offset = 0
            while offset + headerSize <= bytes.count {
                let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                let end = min(offset + headerSize + Int(event.len), bytes.count)
                let name = PathText.text(of: Array(bytes[(offset + headerSize)..<end].prefix { $0 != 0 }))
                offset = end
                // A notice without a name is of the folder itself.
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 || name.isEmpty {
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

        package func take() -> [(folder: CInt, name: String)]? { nil }
    #endif
}
