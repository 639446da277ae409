import EssentialFoundation
import ShipStore
import Synchronization
import SystemPackage

/// Shipments that a session has delivered, until they are installed, in the order in which they came:
///
///     DIR/arrived/NUMBER.shipment
///     DIR/arrived/NUMBER.json         its metadata, and the number of attempts; a shipment without this file is not complete
final class ArrivedShipments: Sendable {
    /// Most shipments that wait.
    static let limit = 16
    /// Most attempts to install one: a shipment that ends the app must not do so forever.
    static let maximumAttempts = 3
    /// The highest number: a file that somebody else has put here leaves room above it for any that come, also where `Int` has 32 bits.
    private static let largest = Int(Int32.max) - 65_536
    /// So many attempts that were stopped, as an app that is suspended stops them, count as one: what costs too much must not be tried
    /// for ever either.
    static let stopsOfAnAttempt = 4
    /// Longest metadata, as JSON, in bytes.
    private static let metadataLimit: Int64 = 256 * 1024

    private let folder: FilePath
    /// The number of the last one.
    private let last: Mutex<Int>

    struct Arrived: Hashable, Sendable {
        let number: Int
        let file: FilePath
        let metadata: [String: String]
        /// Attempts before this one.
        let attempts: Int
        /// Those that were stopped since the last of these.
        fileprivate let stops: Int
    }

    private struct Form: Codable {
        var metadata: [String: String]
        var attempts: Int
        /// Absent for none.
        var stops: Int?
    }

    /// Makes the folder if it is not there, and removes incomplete shipments of a killed process.
    init(in parent: FilePath) throws(FileError) {
        folder = parent.appending("arrived")
        try Folder.make(folder)
        let numbers = try Self.numbers(in: folder)
        last = Mutex(numbers.last ?? 0)
        for name in try Folder.names(in: folder) {
            guard let number = Self.number(of: name, ".shipment"), !numbers.contains(number) else { continue }
            try PlatformCalls.removeFile(folder.appending(text: name))
        }
    }

    /// The complete shipments, the first one first.
    private static func numbers(in folder: FilePath) throws(FileError) -> [Int] {
        try Folder.names(in: folder).compactMap { name in
            number(of: name, ".json")
        }.sorted()
    }

    /// - Returns: `nil` for a name that is not one of ours.
    private static func number(of name: String, _ suffix: String) -> Int? {
        guard name.hasSuffix(suffix), let number = Int(name.dropLast(suffix.count)), (1...largest).contains(number),
            "\(number)\(suffix)" == name
        else { return nil }
        return number
    }

    /// Moves a file here; durable when this returns.
    func keep(_ file: FilePath, _ metadata: [String: String]) throws(TransferMessageError) {
        try keep(metadata) { place throws(FileError) in
            try Self.move(file, to: place)
            try FileCreation.made(.file, place) { () throws(FileError) in try PlatformCalls.removeFile(place) }
        }
    }

    /// Writes a shipment here; durable when this returns.
    func keep(_ shipment: [UInt8], _ metadata: [String: String]) throws(TransferMessageError) {
        try keep(metadata) { place throws(FileError) in try OpenFile.creating(place).write(shipment) }
    }

    private func keep(
        _ metadata: [String: String], _ put: (FilePath) throws(FileError) -> Void
    ) throws(TransferMessageError) {
        let numbers = try TransferMessageError.wrapping { () throws(FileError) in try Self.numbers(in: folder) }
        guard numbers.count < Self.limit else { throw .tooMany }
        let number = last.withLock { last in
            last += 1
            return last
        }
        let place = path(number, "shipment")
        do throws(FileError) {
            try put(place)
            try OpenFile.readingWithoutFollowing(place).sync()
            try write(Form(metadata: metadata, attempts: 0, stops: nil), number)
        } catch {
            // An incomplete shipment takes no space.
            try? PlatformCalls.removeFile(place)
            throw .file(error)
        }
    }

    private static func move(_ source: FilePath, to target: FilePath) throws(FileError) {
        do throws(FileError) {
            try PlatformCalls.rename(source, to: target)
        } catch {
            // The file may be on another file system.
            guard error.errno == .improperLink else { throw error }
            try OpenFile.copy(source, to: target)
        }
    }

    var isEmpty: Bool { ((try? Self.numbers(in: folder)) ?? []).isEmpty }

    /// The shipments that wait, the first one first. One whose metadata are none is removed; one whose metadata cannot be read now stays.
    ///
    /// - Returns: With the error for the first one that could not be read.
    func all() -> (shipments: [Arrived], unread: FileError?) {
        var (shipments, unread): ([Arrived], FileError?) = ([], nil)
        do throws(FileError) {
            for number in try Self.numbers(in: folder) {
                do throws(FileError) {
                    guard let form = try read(number) else {
                        remove(number)
                        continue
                    }
                    shipments.append(
                        Arrived(
                            number: number, file: path(number, "shipment"), metadata: form.metadata,
                            attempts: form.attempts, stops: form.stops ?? 0))
                } catch {
                    unread = unread ?? error
                }
            }
        } catch {
            unread = error
        }
        return (shipments, unread)
    }

    /// Counts an attempt, before it is made.
    func attempt(_ arrived: Arrived) throws(FileError) {
        try write(Form(metadata: arrived.metadata, attempts: arrived.attempts + 1, stops: nil), arrived.number)
    }

    /// Uncounts an attempt that was stopped, unless as many were stopped as count as one.
    func withdrawAttempt(_ arrived: Arrived) {
        let stops = arrived.stops + 1
        guard stops < Self.stopsOfAnAttempt else { return }
        try? write(Form(metadata: arrived.metadata, attempts: arrived.attempts, stops: stops), arrived.number)
    }

    func remove(_ number: Int) {
        // In this order, a shipment that is removed halfway is incomplete.
        try? PlatformCalls.removeFile(path(number, "json"))
        try? PlatformCalls.removeFile(path(number, "shipment"))
    }

    private func path(_ number: Int, _ suffix: String) -> FilePath { folder.appending("\(number).\(suffix)") }

    /// - Returns: `nil` for what was read, and is no metadata.
    private func read(_ number: Int) throws(FileError) -> Form? {
        let file = try OpenFile.readingWithoutFollowing(path(number, "json"))
        let size = try file.size
        guard size <= Self.metadataLimit else { return nil }
        let bytes = try file.read(Int(size), at: 0)
        guard let form = try? JSONDecoder().decode(Form.self, from: Data(bytes)),
            (0...Self.maximumAttempts).contains(form.attempts),
            (0..<Self.stopsOfAnAttempt).contains(form.stops ?? 0)
        else { return nil }
        return form
    }

    private func write(_ form: Form, _ number: Int) throws(FileError) {
        try path(number, "json").write(form)
    }
}
