import ShipProtocol
import StoreFiles
import SystemPackage

/// A shipment that becomes a file. It takes the place of another shipment, and of nothing else unless that was said.
final class FileSink: LinkSink {
    private let path: FilePath
    private let file: ResultFile
    private let calls = BlockingCalls()

    /// - Throws: `.inTheWay`, `.file`.
    init(_ path: FilePath, over overwriting: Overwriting) throws(LinkError) {
        self.path = path
        try Self.check(path, over: overwriting)
        do throws(FileError) {
            file = try ResultFile(path, replacing: overwriting.kind)
        } catch {
            throw .file(error)
        }
    }

    /// - Throws: `.inTheWay`.
    static func check(_ path: FilePath, over overwriting: Overwriting) throws(LinkError) {
        guard ResultFile.mayTake(path, replacing: overwriting.kind) else { throw .inTheWay(path) }
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        try await calls.run { [self] () throws(FileError) in try file.write(bytes) }
    }

    func finish() async throws(LinkError) {
        let isInPlace = try await calls.run { [self] () throws(FileError) in try file.finish() }
        guard isInPlace else { throw .inTheWay(path) }
    }

    func abandon() { file.abandon() }
}

/// What stands at the path of a shipment that becomes a file, and may go.
public enum Overwriting: Hashable, Sendable {
    /// Other shipments, whole or not.
    case shipments
    /// Any file.
    case anything

    fileprivate var kind: ResultFile.Kind? {
        switch self {
        case .shipments: ResultFile.Kind(tellingBy: Preamble.size, Preamble.begins)
        case .anything: nil
        }
    }
}
