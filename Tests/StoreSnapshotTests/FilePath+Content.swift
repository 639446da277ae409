import Foundation
import SystemPackage

extension FilePath {
    /// All bytes of the file.
    var content: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: string))) }
    }
}
