/// Why a proxy between this device and web servers is no help.
public enum ProxyFailure: Hashable, Sendable {
    case unreachable
    /// It does not answer in time.
    case silent
    /// Its answer is none of a proxy.
    case noProxy
    case refused(status: Int)
}
