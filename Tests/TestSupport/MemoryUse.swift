import Foundation

/// The memory that this process has in use. To be asked in a process of its own (an exit test): other tests take some at any
/// time.
package enum MemoryUse {
    package struct Unknown: Error {}

    /// Whether it says what the code takes: Address Sanitizer keeps what was freed.
    package static let isMeaningful = dlsym(nil, "__asan_init") == nil

    /// Resident, in bytes.
    package static var current: Int {
        get throws {
            let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            guard fields.count > 1, let pages = Int(fields[1]) else { throw Unknown() }
            return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        }
    }

    /// The most that was resident at any time so far, in bytes.
    package static var peak: Int {
        get throws {
            let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
            let fields = lines.first { $0.hasPrefix("VmHWM:") }?.split(whereSeparator: \.isWhitespace) ?? []
            guard fields.count == 3, let kibibytes = Int(fields[1]) else { throw Unknown() }
            return kibibytes * 1024
        }
    }
}
