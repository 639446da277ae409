import Foundation
package import GRDB
import Synchronization
package import SystemPackage

extension DatabaseQueue {
    /// Opens a store whose `randomblob` gives the same bytes each time, so that what is made of them has the same size.
    package static func repeatable(path: FilePath, seed: UInt64 = 1) throws -> DatabaseQueue {
        let random = RepeatableBytes(seed: seed)
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            database.add(
                function: DatabaseFunction("randomblob", argumentCount: 1) { values in
                    guard let count = Int.fromDatabaseValue(values[0]) else { return nil }
                    return Data(random.next(count))
                })
        }
        return try DatabaseQueue(path: path.string, configuration: configuration)
    }
}

/// Random bytes for whoever asks, from any thread.
private final class RepeatableBytes: Sendable {
    private let random: Mutex<RepeatableRandom>

    init(seed: UInt64) { random = Mutex(RepeatableRandom(seed: seed)) }

    func next(_ count: Int) -> [UInt8] { random.withLock { $0.bytes(max(count, 1)) } }
}
