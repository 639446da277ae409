import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What the platform knows of hosts and sockets.
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
    /// - Throws: What the resolver says.
    package static func addresses(of host: String, _ kind: HostKind) throws(ResolverError) -> [String] {
        var hints = addrinfo()
        hints.ai_flags = kind == .numeric ? AI_NUMERICHOST : 0
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

    /// Whether a host may have to be looked up.
    package enum HostKind: Hashable, Sendable { case name, numeric }
}

/// A host that could not be looked up.
package struct ResolverError: Error, Hashable, Sendable {
    /// What the resolver says.
    package let reason: String

    fileprivate init(code: CInt) {
        reason = code == EAI_SYSTEM ? String(describing: Errno.last) : String(cString: gai_strerror(code))
    }
}

/// What getsockopt(2) gives of whoever is at the other end of a Unix socket, as they were when they connected or listened.
package struct PeerCredentials: Sendable {
    // Source: `struct ucred` [unix(7), SO_PEERCRED]; `struct xucred` [LOCAL_PEERCRED, Darwin's sys/ucred.h].
    #if canImport(Darwin)
        package static let level: CInt = 0  // SOL_LOCAL
        package static let option: CInt = 1  // LOCAL_PEERCRED
        private let version: UInt32
        package let user: UInt32
        private let groupCount: Int16
        private let groups:
            (
                UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32,
                UInt32, UInt32, UInt32
            )
    #else
        package static let level = SOL_SOCKET
        package static let option = SO_PEERCRED
        private let process: Int32
        package let user: UInt32
        private let group: UInt32
    #endif
}
