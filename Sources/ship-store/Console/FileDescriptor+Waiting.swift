import StoreFiles
import SystemPackage

extension FileDescriptor {
    /// How long a reader is waited for that reads nothing.
    private static let patience = Duration.seconds(1)

    /// Writes all bytes to a standard stream as its reader takes them.
    ///
    /// - Parameter isPatient: Whether the reader is waited for until the program is told to stop.
    /// - Throws: `Errno.timedOut` for a reader that took nothing for a second; what write(2) tells.
    func writeAll(_ bytes: [UInt8], asLongAsItTakes isPatient: Bool) throws {
        var (rest, last) = (bytes[...], ContinuousClock.now)
        while !rest.isEmpty {
            guard PlatformCalls.canWrite(to: self, within: 100) else {
                if isPatient, !StopSignals.isAskedToStop { last = .now }
                if .now - last >= Self.patience { throw Errno.timedOut }
                continue
            }
            let part = rest.prefix(PlatformCalls.pipeRoom)
            rest = rest.dropFirst(try part.withUnsafeBytes { try write($0) })
            last = .now
        }
    }
}
