import Foundation
import SystemPackage

enum PageReading {
    static func bytes(of path: FilePath) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path.string)))
    }
}
