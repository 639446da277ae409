import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A name that nothing has, and of several who want it one gets it.
@Suite struct FreePlaceTests {
    @Test func `of several files one gets the name, and what has a name keeps it`() async throws {
        let scratch = try ScratchFolder()
        let target = scratch.path.appending("target")
        for number in 0..<8 {
            try Data("\(number)".utf8).write(to: URL(filePath: scratch.path.appending("\(number)").string))
        }
        let winners = await withTaskGroup(of: Int?.self) { group in
            for number in 0..<8 {
                group.addTask {
                    (try? PlatformCalls.place(scratch.path.appending("\(number)"), atFree: target)).map { number }
                }
            }
            return await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
        }
        #expect(winners.count == 1)
        #expect(try String(contentsOfFile: target.string, encoding: .utf8) == winners.first.map(String.init))
    }
}
