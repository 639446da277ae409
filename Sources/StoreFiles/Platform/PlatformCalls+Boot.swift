import SystemPackage

#if canImport(Darwin)
    import Darwin
#endif

extension PlatformCalls {
    /// What is said of a system from its start to its end, and never again; `nil` where that cannot be told.
    package static var bootIdentifier: String? {
        #if canImport(Darwin)
            var (bytes, count) = ([CChar](repeating: 0, count: 128), 128)
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0, count > 1 else { return nil }
            return bytes.prefix { $0 != 0 }.map { String(UnicodeScalar(UInt8(bitPattern: $0))) }.joined()
        #else
            guard let file = try? OpenFile.reading("/proc/sys/kernel/random/boot_id"),
                let bytes = try? file.read(64, at: 0), bytes.count > 16
            else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        #endif
    }
}
