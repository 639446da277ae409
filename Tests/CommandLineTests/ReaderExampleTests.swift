import GRDB
import SystemPackage
import TestSupport
import Testing

@Suite struct ReaderExampleTests {
    @Test func `the example shows what is there, and what arrives while it runs`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 3)
        let ship = "$SHIP send Recipes.sqlite --to - --quiet | $SHIP receive --into inbox --from - --quiet"
        try await desk.shell(ship).expectSuccess()
        let reader = try ChildProgram(try BuiltProgram.program("reader-example"), ["inbox"], in: desk.path)
        _ = try await reader.waitForLine(containing: "Recipes 1: recipe has 3 rows", on: .output)
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES ('Tea')")
        try await desk.shell(ship).expectSuccess()
        _ = try await reader.waitForLine(containing: "Recipes 2: recipe has 4 rows", on: .output)
    }
}
