import ShipProtocol
import StoreFiles
package import SystemPackage

/// The folder of the system whose files are in RAM. Source: shm_overview(7).
package enum SharedMemory {
    package static let folder: FilePath = "/dev/shm"
    /// Most bytes of the list of what is mounted.
    private static let mostBytes = 4 * 1024 * 1024

    /// Whether a tmpfs is mounted there: proc_pid_mountinfo(5), the fifth field of each line, and the first one after a hyphen. What was mounted
    /// last counts.
    package static var isThere: Bool {
        guard let list = try? OpenFile.reading("/proc/self/mountinfo") else { return false }
        var bytes: [UInt8] = []
        while bytes.count < mostBytes, let piece = (try? list.readNext(65_536)) ?? nil, !piece.isEmpty {
            bytes += piece
        }
        let mounted = bytes.split(separator: 0x0A).last { line in
            line.split(separator: 0x20, maxSplits: 5).dropFirst(4).first?.elementsEqual(folder.bytes) ?? false
        }
        let fields = mounted?.split(separator: 0x20).drop { !$0.elementsEqual("-".utf8) }
        return fields?.dropFirst().first?.elementsEqual("tmpfs".utf8) ?? false
    }
}
