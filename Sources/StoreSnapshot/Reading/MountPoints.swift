import ShipProtocol
import StoreFiles
import SystemPackage

/// The places where something is mounted.
enum MountPoints {
    /// Most bytes of the list.
    private static let mostBytes = 4 * 1024 * 1024

    /// Whether a file is mounted alone, as containers get single files of their host. Where there is no list, it is not.
    ///
    /// Source: proc_pid_mountinfo(5): the fifth field of each line, in which some bytes are octal.
    static func contain(_ path: FilePath) -> Bool {
        guard let list = try? OpenFile.reading("/proc/self/mountinfo") else { return false }
        var bytes: [UInt8] = []
        while bytes.count < mostBytes, let piece = (try? list.readNext(65_536)) ?? nil, !piece.isEmpty {
            bytes += piece
        }
        let wanted = path.bytes.flatMap { byte -> [UInt8] in
            guard [0x20, 0x09, 0x0A, 0x5C].contains(byte) else { return [byte] }
            return Array("\\\(String(repeating: "0", count: byte < 0o100 ? 1 : 0))\(String(byte, radix: 8))".utf8)
        }
        return bytes.split(separator: 0x0A).contains { line in
            line.split(separator: 0x20, maxSplits: 5).dropFirst(4).first.map { $0.elementsEqual(wanted) } ?? false
        }
    }
}
