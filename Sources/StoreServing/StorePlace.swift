import StoreInbox
package import SystemPackage

/// Where a coordinator's store is.
package enum StorePlace: Sendable {
    /// A file of its own, which may be live.
    case file(FilePath)
    /// The generation that was current; it stays for as long as this value lives.
    case generation(Pin)

    package var path: FilePath {
        switch self {
        case .file(let path): path
        case .generation(let pin): pin.generation.storePath
        }
    }
}
