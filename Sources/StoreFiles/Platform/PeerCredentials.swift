import CLibrary

/// The process at the other end of a Unix socket when it connected or listened, by getsockopt(2).
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
