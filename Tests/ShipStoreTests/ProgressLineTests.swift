import Testing

@testable import ship_store

/// What people see of a shipment that is under way.
@Suite struct `A line of progress` {
    private func line(
        _ done: Int64, of total: Int64, after elapsed: Duration, columns: Int = 80
    ) -> String {
        Progress(done: done, total: total, elapsed: elapsed).line(columns: columns)
    }

    @Test(arguments: [0, 1, 4, 5, 6, 10, 16, 20, 24, 30, 40, 50, 60, 61, 70, 80, 120])
    func `fits into the terminal`(columns: Int) {
        for done: Int64 in [0, 1, 999_999, 5_000_000, 999_999_999, 1_000_000_000] {
            for elapsed in [Duration.zero, .milliseconds(3), .seconds(2), .seconds(40_000)] {
                let line = line(done, of: 1_000_000_000, after: elapsed, columns: columns)
                #expect(line.count <= columns, "\(line)")
                #expect(columns < 5 || line.contains(" %"), "\(line)")
            }
        }
    }

    @Test func `says what there is room for`() {
        func line(_ columns: Int) -> String {
            self.line(21_000_000, of: 50_000_000, after: .seconds(10), columns: columns)
        }
        #expect(line(80) == "██████████░░░░░░░░░░░░░░ 42 % of 50.0 MB, 2.10 MB/s, 14 s left")
        #expect(line(60) == "█████████░░░░░░░░░░░░░ 42 % of 50.0 MB, 2.10 MB/s, 14 s left")
        #expect(line(40) == "42 % of 50.0 MB, 2.10 MB/s, 14 s left")
        #expect(line(30) == "42 % of 50.0 MB, 14 s left")
        #expect(line(20) == "42 % of 50.0 MB")
        #expect(line(6) == "42 %")
    }

    @Test func `guesses nothing at the beginning, and has nothing left at the end`() {
        #expect(!line(130_000, of: 20_000_000, after: .milliseconds(150)).contains("left"))
        #expect(!line(0, of: 20_000_000, after: .seconds(10)).contains("left"))
        // Little has come, and a while has passed: nobody knows.
        #expect(!line(130_000, of: 20_000_000, after: .seconds(30)).contains("left"))
        #expect(line(2_000_000, of: 20_000_000, after: .seconds(3)).hasSuffix(", 27 s left"))
        #expect(line(2_000_000, of: 20_000_000, after: .seconds(30)).hasSuffix(", 4 min 30 s left"))
        #expect(line(2_000_000, of: 20_000_000, after: .seconds(3000)).hasSuffix(", 7 h 30 min left"))
        #expect(line(19_999_999, of: 20_000_000, after: .seconds(30)).hasSuffix(", 1 s left"))
        #expect(line(20_000_000, of: 20_000_000, after: .seconds(30)).hasSuffix("/s"))
    }
}
