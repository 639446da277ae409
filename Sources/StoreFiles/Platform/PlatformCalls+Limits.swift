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
