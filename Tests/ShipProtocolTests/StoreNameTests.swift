import ShipProtocol
import TestSupport
import Testing

@Suite struct `A store's name` {
    @Test(arguments: [
        ("Recipes.sqlite", "Recipes"), ("Recipes", "Recipes"), ("my recipes.sqlite", "my_20recipes"), ("a.b.c", "a.b"),
        (".hidden.sqlite", "_2Ehidden"), (".hidden", "_2Ehidden"), ("-dash.db", "_2Ddash"),
        ("Müller.db", "M_C3_BCller"),
        ("M\u{10FEFC}ller.db", "M_FCller"), ("a'b\"c%d.db", "a_27b_22c_25d"), ("x-wal.db", "x_2Dwal"),
        ("x-SHM.db", "x_2DSHM"),
        ("Recipes.sqlite-wal", "Recipes"), ("東京.sqlite", "_E6_9D_B1_E4_BA_AC"), ("", "store"), (".", "_2E"),
        ("..", "_2E"),
        ("_", "_"), ("a..", "a."), ("a.\u{301}db", "a"), ("tab\t.db", "tab_09"),
    ])
    func `comes from the file's`(fileName: String, name: String) {
        let suggested = StoreName(suggestedBy: fileName)
        #expect(suggested.text == name)
        #expect(StoreName(suggested.text) == suggested)
    }

    @Test func `keeps what is distinct in files' names`() {
        var random = RepeatableRandom(seed: 11)
        let letters = [
            "a", "é", "e\u{301}", "ü", "ö", " ", "-", ".", "東", "京", "/", "\u{10FEFC}", "\u{FFFD}", "%", "'",
        ]
        var names: [String: String] = [:]
        for _ in 0..<2000 {
            let stem = (0...Int.random(in: 0...20, using: &random)).map { _ in
                letters.randomElement(using: &random) ?? ""
            }.joined()
            let name = StoreName(suggestedBy: stem + ".db").text
            #expect(names[name].map { $0.utf8.elementsEqual(stem.utf8) } ?? true, "\(name)")
            names[name] = stem
        }
    }

    @Test func `is cut to 128 bytes, and still a name`() {
        #expect(StoreName(suggestedBy: String(repeating: "n", count: 400) + ".sqlite").text.utf8.count == 128)
        let long = ["a", "b"].map { StoreName(suggestedBy: String(repeating: "n", count: 400) + $0 + ".sqlite") }
        #expect(long[0] != long[1])
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
