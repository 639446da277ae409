import Foundation
import SystemPackage

extension FilePath {
    var content: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: string))) }
    }

    func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: string)) }
}
