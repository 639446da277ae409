package import Foundation
package import RandomValues
import TestSupport

/// A store that nobody chose, and what is done to it afterwards, in several turns: all from one seed.
package struct RandomCase: Sendable, Codable {
    package var store: RandomStore
    package var turns: [[RandomStep]]

    package init(store: RandomStore, turns: [[RandomStep]] = []) {
        self.store = store
        self.turns = turns
    }

    package init(seed: UInt64) {
        let choices = Choices(seed: seed)
        let plan = StorePlan(choices, seed: seed)
        store = plan.store
        turns = (0..<2).map { _ in
            (0..<choices.below(5)).flatMap { _ in plan.steps(choices) }
        }
    }

    /// All of it as a script for `sqlite3`. What SQL cannot say is in remarks.
    package var sql: String {
        store.sql + turns.enumerated().map { "-- turn \($0 + 1)\n" + $1.map { $0.sql + ";\n" }.joined() }.joined()
    }

    package init(json: Data) throws { self = try Self.decoder.decode(RandomCase.self, from: json) }

    package var json: Data { get throws { try Self.encoder.encode(self) } }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }
}

extension Choices {
    package init(seed: UInt64) {
        var random = RepeatableRandom(seed: seed)
        self.init { random.next() % $0 }
    }
}
