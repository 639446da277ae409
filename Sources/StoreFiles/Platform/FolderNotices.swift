package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The platform's word that names in folders have come, gone or changed hands: inotify(7) on Linux. Where there is no such
/// thing, making one fails, and one looks again and again instead.
package struct FolderNotices: ~Copyable, Sendable {
    /// Which folder a notice is about.
    package struct Watch: Hashable, Sendable {
        fileprivate let number: CInt
    }

    package enum Notice: Hashable, Sendable {
        /// Something of that name was made, removed or renamed in the folder.
        case entry(Watch, name: String)
        /// The folder itself was moved or removed.
        case folder(Watch)
        /// There were more notices than the system keeps: anything may have changed.
        case overflow
    }

    /// To be waited for.
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
        package func watch(_ folder: FilePath) throws(FileError) -> Watch {
            let number = folder.withPlatformString { inotify_add_watch(descriptor.rawValue, $0, Self.events) }
            guard number >= 0 else { throw FileError(.watch, folder, .last) }
            return Watch(number: number)
        }

        /// What has come so far, without waiting; nothing of a notice that cannot be read is lost on the others.
        package func take() -> [Notice] {
            var notices: [Notice] = []
            withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 8) { buffer in
                while let count = try? descriptor.read(into: buffer), count > 0 {
                    Self.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: &notices)
                }
            }
            return notices
        }

        private static func append(_ bytes: UnsafeRawBufferPointer, to notices: inout [Notice]) {
            let headerSize = MemoryLayout<inotify_event>.size
            var offset = 0
            while offset + headerSize <= bytes.count {
                let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                let end = min(offset + headerSize + Int(event.len), bytes.count)
                let name = String(decoding: bytes[(offset + headerSize)..<end].prefix { $0 != 0 }, as: UTF8.self)
                offset = end
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                    notices.append(.overflow)
                } else if name.isEmpty {
                    notices.append(.folder(Watch(number: event.wd)))
                } else {
                    notices.append(.entry(Watch(number: event.wd), name: name))
                }
            }
        }
    #else
        package init() throws(FileError) { throw FileError(.watch, "", .notSupported) }

        package func watch(_ folder: FilePath) throws(FileError) -> Watch {
            throw FileError(.watch, folder, .notSupported)
        }

        package func take() -> [Notice] { [] }
    #endif
}
