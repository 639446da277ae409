import EssentialFoundation
public import ShipProtocol
import StoreFiles
public import SystemPackage

extension HoldingsFile {
    /// - Parameter path: `-` for standard input.
    /// - Throws: `.badHoldings`, `.link(.file)`.
    public static func read(at path: FilePath) throws(ShipmentError) -> HoldingsFile {
        let bytes: [UInt8]
        do {
            bytes = try path == "-" ? read(.standardInput) : read(path)
        } catch {
            throw .link(.file(FileError(.read, path, error as? Errno ?? .ioError)))
        }
        do throws(ProtocolError) {
            return try HoldingsFile(decoding: bytes)
        } catch .badMessage(_, let flaw) {
            throw .badHoldings(path, flaw: flaw)
        } catch {
            throw .badHoldings(path, flaw: "it is no such file")
        }
    }

    private static func read(_ path: FilePath) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
        return try file.closeAfter { try read(file) }
    }

    /// - Returns: One byte more than there may be, at most.
    private static func read(_ file: FileDescriptor) throws -> [UInt8] {
        let most = Limits.messageSize + 1
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count < most {
            let count = try piece.withUnsafeMutableBytes { try file.read(into: $0) }
            guard count > 0 else { break }
            bytes += piece.prefix(min(count, most - bytes.count))
        }
        return bytes
    }
}
