import CLibrary
import CPlatform
import SystemPackage

/// Owners and extended attributes of files.
extension PlatformCalls {
    /// fchown(2). What is `nil` stays.
    static func changeOwner(
        of descriptor: FileDescriptor, _ path: FilePath, to owner: UInt32?, group: UInt32
    ) throws(FileError) {
        guard fchown(descriptor.rawValue, owner ?? .max, group) == 0 else { throw FileError(.changeOwner, path, .last) }
    }

    /// listxattr(2), getxattr(2): of a symbolic link itself.
    ///
    /// - Returns: By their names, with the NUL at the end; none where there are none, or the file system has no such thing.
    static func extendedAttributes(of path: FilePath) -> [[CInterop.PlatformChar]: [UInt8]] {
        path.withPlatformString { path in
            let names = bytes { ship_store_list_attributes(path, $0, UInt64($1)) } ?? []
            var attributes: [[CInterop.PlatformChar]: [UInt8]] = [:]
            for name in names.split(separator: 0) {
                let name = name + [0]
                attributes[Array(name)] = name.withUnsafeBufferPointer { name in
                    guard let start = name.baseAddress else { return nil }
                    let value: [CInterop.PlatformChar]? = bytes {
                        ship_store_get_attribute(path, start, $0, UInt64($1))
                    }
                    return value?.map(UInt8.init(bitPattern:))
                }
            }
            return attributes
        }
    }

    /// fsetxattr(2), or fremovexattr(2) for `nil`.
    static func setExtendedAttribute(
        _ name: [CInterop.PlatformChar], of descriptor: FileDescriptor, _ path: FilePath, to value: [UInt8]?
    ) throws(FileError) {
        let result =
            if let value {
                // A pointer says that there is a value, also where it has no bytes.
                (value + [0]).withUnsafeBytes {
                    ship_store_set_attribute(descriptor.rawValue, name, $0.baseAddress, UInt64(value.count))
                }
            } else {
                ship_store_set_attribute(descriptor.rawValue, name, nil, 0)
            }
        guard result == 0 else { throw FileError(.setAttributes, path, .last) }
    }

    /// Largest list and value that Linux has, in bytes [xattr(7)].
    private static let mostAttributeBytes = 64 * 1024

    /// - Returns: `nil` if the call fails.
    private static func bytes(
        _ read: (UnsafeMutablePointer<CInterop.PlatformChar>?, Int) -> Int64
    ) -> [CInterop.PlatformChar]? {
        let size = Int(clamping: read(nil, 0))
        guard (0...mostAttributeBytes).contains(size) else { return nil }
        var bytes = [CInterop.PlatformChar](repeating: 0, count: size)
        let count = size == 0 ? 0 : Int(clamping: bytes.withUnsafeMutableBufferPointer { read($0.baseAddress, size) })
        // It may have grown since.
        guard (0...size).contains(count) else { return nil }
        return Array(bytes.prefix(count))
    }
}
