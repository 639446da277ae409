import StoreFiles
package import SystemPackage

/// The folder of the system whose files are in RAM. Source: shm_overview(7).
package enum SharedMemory {
    package static let folder: FilePath = "/dev/shm"
    package static var isThere: Bool { PlatformCalls.isInMemory(folder) }
}
