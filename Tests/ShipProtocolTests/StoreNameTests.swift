import ShipProtocol
import TestSupport
import Testing

@Suite struct `A store's name` {
    @Test(arguments: [
        ("Recipes.sqlite", "Recipes"), ("Recipes", "Recipes"), ("my recipes.sqlite", "my_recipes"), ("a.b.c", "a.b"),
        (".hidden.sqlite", "hidden"), (".hidden", "hidden"), ("-dash.db", "dash"), ("Äpfel.db", "_pfel"),
        ("a'b\"c%d?e#f.db", "a_b_c_d_e_f"), ("x-wal.db", nil), ("Recipes.sqlite-wal", "Recipes"), ("東京.sqlite", nil),
        ("", nil), (".", nil), ("..", nil), ("...", nil), ("---", nil), ("_", nil), ("..a", nil), ("a..", "a."),
    ])
    func `comes from the file's`(fileName: String, name: String?) {
        let suggested = StoreName(suggestedBy: fileName)
        // Where nothing is left to recognise it by, it is made up, but the same each time.
        if let name {
            #expect(suggested.text == name)
        } else {
            #expect(suggested.text.hasPrefix("store_"))
        }
        #expect(StoreName(suggested.text) == suggested)
        #expect(StoreName(suggestedBy: fileName) == suggested)
    }

    @Test func `is made up differently for different files`() {
        #expect(StoreName(suggestedBy: "東京.sqlite") != StoreName(suggestedBy: "京都.sqlite"))
    }

    @Test func `is cut to 128 bytes, and still a name`() {
        #expect(StoreName(suggestedBy: String(repeating: "n", count: 400) + ".sqlite").text.utf8.count == 128)
        let endsBadly = String(repeating: "n", count: 124) + "-wal" + "more.sqlite"
        #expect(StoreName(StoreName(suggestedBy: endsBadly).text) != nil)
    }

    @Test func `is one whatever the file's is`() {
        var random = RepeatableRandom(seed: 7)
        for _ in 0..<2000 {
            let scalars = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Unicode.Scalar(UInt8.random(in: 0...255, using: &random))
            }
            let name = StoreName(suggestedBy: String(String.UnicodeScalarView(scalars)))
            #expect(StoreName(name.text) == name)
        }
    }
}
