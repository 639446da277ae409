import CPlatform
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension PlatformCalls {
    /// setrlimit(2), prctl(2), alarm(2): takes from this process, for good, what reading one file does not need: writing
    /// files, dumping its core, gaining rights, opening many files, and memory and time beyond what is given.
    ///
    /// - Parameters:
    ///   - memory: Bytes beside those that are mapped already.
    ///   - seconds: Of CPU; somewhat later it ends although it has done nothing.
    ///   - descriptors: How many may be open.
    /// - Returns: Whether the system took all of these.
    package static func confineThisProcess(memory: Int64, seconds: Int, descriptors: Int) -> Bool {
        ship_store_confine_process(
            UInt64(clamping: memory), UInt32(clamping: max(1, seconds)), UInt64(clamping: descriptors)) == 0
    }

    /// How many more descriptors this process may open: getrlimit(2) `RLIMIT_NOFILE`, less those that are open, where the
    /// system lists them.
    package static var freeDescriptors: Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let result = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
            let result = getrlimit(RLIMIT_NOFILE, &limit)
        #endif
        guard result == 0 else { return 0 }
        let open = (try? Folder.names(in: "/proc/self/fd")) ?? (try? Folder.names(in: "/dev/fd")) ?? []
        return max(0, Int(clamping: limit.rlim_cur) - open.count)
    }

    /// Whether a signal is one by which a process ends that was confined for as long as it may take.
    package static func isTimeLimitSignal(_ signal: Int32) -> Bool { signal == SIGXCPU || signal == SIGALRM }
}

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

extension PlatformCalls {
    /// mallopt(3): memory that is freed goes back to the system from this size on, in bytes.
    ///
    /// Otherwise glibc raises its own threshold with each larger piece that is freed, up to 32 MiB, and a process that works on
    /// one megabyte after the other keeps some twenty of them. It does nothing with another C library.
    package static func returnFreedMemory(from size: Int32 = 256 * 1024) {
        ship_store_set_mmap_threshold(size)
    }

    /// madvise(2): what is mapped of this program's own file, and not used again, no longer takes memory of this process; what is used
    /// again comes back by itself. To start takes five times as much of it as to wait.
    package static func unmapProgram() { ship_store_unmap_program() }

    /// From here on this process leaves no core file, and on Linux no other of the same user may look into its memory: a
    /// device's key may be in it. What it starts may do as it likes.
    package static func forbidDumps() { ship_store_forbid_dumps() }
}
