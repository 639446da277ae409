import CLibrary
import CPlatform
package import SystemPackage

extension PlatformCalls {
    /// setrlimit(2), prctl(2), alarm(2): takes from this process, for good, what it does not need to read one file: writing files,
    /// dumping its core, gaining rights, opening many files, and memory and time beyond the limits.
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

    /// Whether the file system of a folder tells this process what every writer does in it.
    package static func tellsOfChanges(in folder: FilePath) -> Bool {
        (folder.isEmpty ? "." : folder).withPlatformString { ship_store_tells_of_changes($0) != 0 }
    }

    /// Whether the files of a folder are in RAM.
    package static func isInMemory(_ folder: FilePath) -> Bool {
        folder.withPlatformString { ship_store_is_in_memory($0) != 0 }
    }

    #if canImport(Glibc)
        private static let descriptorLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let descriptorLimit = RLIMIT_NOFILE
    #endif

    /// How many more descriptors this process may open: getrlimit(2) `RLIMIT_NOFILE`, less the open ones, if the system lists these.
    package static var freeDescriptors: Int {
        var limit = rlimit()
        guard getrlimit(descriptorLimit, &limit) == 0 else { return 0 }
        let open = (try? Folder.names(in: "/proc/self/fd")) ?? (try? Folder.names(in: "/dev/fd")) ?? []
        return max(0, Int(clamping: limit.rlim_cur) - open.count)
    }

    /// Most descriptors that this process asks for: a table of them takes memory in the kernel.
    private static let mostDescriptors: rlim_t = 65_536

    /// setrlimit(2) `RLIMIT_NOFILE`: as many descriptors as this process may have without asking anybody. Shells give 1,024 of them, for
    /// the sake of programs that use select(2).
    package static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(descriptorLimit, &limit) == 0 else { return }
        let most = min(limit.rlim_max, mostDescriptors)
        guard limit.rlim_cur < most else { return }
        limit.rlim_cur = most
        setrlimit(descriptorLimit, &limit)
    }

    /// mmap(2), pthread_create(3): whether this process may have that many more bytes of memory, and beside them that many more threads.
    package static func hasRoom(bytes: Int, threads: Int) -> Bool {
        ship_store_has_room(UInt64(clamping: bytes), UInt32(clamping: threads)) != 0
    }

    /// Whether a signal ends a confined process at its limit of time.
    package static func isTimeLimitSignal(_ signal: Int32) -> Bool { signal == SIGXCPU || signal == SIGALRM }
}

extension PlatformCalls {
    /// An identifier of the running system since its start; `nil` if the platform has none.
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
    /// mallopt(3): memory that is freed goes back to the system from 256 KiB on.
    ///
    /// Otherwise glibc raises its own threshold with each larger piece that is freed, up to 32 MiB, and a process that works on
    /// one megabyte after the other keeps some twenty of them. Where addresses are limited, all threads share a heap. This is of glibc.
    package static func returnFreedMemory() { ship_store_set_mmap_threshold(256 * 1024) }

    /// madvise(2): frees the pages of this program's own file, which come back when they are used again. Starting takes five times as many
    /// of them as waiting.
    package static func unmapProgram() { ship_store_unmap_program() }

    /// From here on this process leaves no core file, and on Linux no other of the same user may look into its memory: a
    /// device's key may be in it. What it starts may do as it likes.
    package static func forbidDumps() { ship_store_forbid_dumps() }
}

/// The things that this process was started with.
extension PlatformCalls {
    /// The bytes of each argument but the program's name; `nil` if they cannot be read.
    package static var arguments: [[UInt8]]? {
        guard let start = ship_store_arguments() else { return nil }
        var arguments: [[UInt8]] = []
        var next = start
        while let text = next.pointee {
            arguments.append(UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) })
            next += 1
        }
        return Array(arguments.dropFirst())
    }

    /// The file of this program, as the kernel was told it when it started: absolute, if it is still there.
    package static var program: FilePath? {
        guard let path = ship_store_program() else { return nil }
        return try? realPath(of: FilePath(platformString: path))
    }

    /// getenv(3): the path that a variable holds; `nil` if it is empty or not set.
    package static func path(inVariable name: String) -> FilePath? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return FilePath(platformString: value)
    }

    /// getpwuid(3): the home of the user in the system's list.
    static var listedHome: FilePath {
        guard let entry = getpwuid(geteuid()), let home = entry.pointee.pw_dir else { return "/" }
        return FilePath(platformString: home)
    }

    /// getcwd(3); `.` if it has been removed.
    package static var workingFolder: FilePath {
        guard let raw = getcwd(nil, 0) else { return "." }
        defer { free(raw) }
        return FilePath(platformString: raw)
    }
}

/// Hosts and sockets.
extension PlatformCalls {
    /// Longest path of a Unix socket, in bytes: what `sun_path` holds beside the NUL at its end [unix(7)].
    package static let longestSocketPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// The 4 bytes of an IPv4 address or the 16 of an IPv6 one; `nil` if the text is neither.
    package static func bytes(ofNumericAddress text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }

    /// getaddrinfo(3): the numeric IPv4 and IPv6 addresses of a host, in the order in which to try them. It blocks, for
    /// seconds if a name server does not answer.
    ///
    /// - Parameter mayLookUp: Whether the host may be a name; otherwise it is a numeric address, and nothing blocks.
    /// - Throws: What the resolver says.
    package static func addresses(of host: String, mayLookUp: Bool) throws(ResolverError) -> [String] {
        var hints = addrinfo()
        hints.ai_flags = mayLookUp ? 0 : AI_NUMERICHOST
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, nil, &hints, &list)
        guard result == 0 else { throw ResolverError(code: result) }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var next = list
        while let entry = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let status = getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            // Each address comes once for each type of socket.
            if status == 0, !addresses.contains(address) { addresses.append(address) }
            next = entry.ai_next
        }
        return addresses
    }
}
