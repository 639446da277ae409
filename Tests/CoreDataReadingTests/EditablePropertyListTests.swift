import CoreDataReading
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Property lists that Python's plistlib makes, changed here, and judged there.
@Suite struct EditablePropertyListTests {
    /// Writes lists, each in hexadecimal on a line of its own; then reads each pair of what they became, the first with
    /// pairs under a key and the second without them again.
    private static let judge = """
        import datetime, plistlib, random, sys
        dice = random.Random(int(sys.argv[1]))
        def text():
            letters = dice.choice(["abc ", "aé", "日本🍲"])
            return "".join(dice.choice(letters) for _ in range(dice.choice([0, 1, 5, 14, 15, 16, 300])))
        def number():
            bits = dice.choice([7, 8, 15, 16, 31, 32, 62])
            return dice.choice([0, 1, -1, 2**63 - 1, -2**63, 2**64 - 1, dice.randrange(2**bits), -dice.randrange(2**bits)])
        def value(depth):
            kind = dice.randrange(11 if depth < 5 else 7)
            if kind == 0: return text()
            if kind == 1: return number()
            if kind == 2: return dice.uniform(-1e9, 1e9)
            if kind == 3: return dice.random() < 0.5
            if kind == 4: return dice.randbytes(dice.choice([0, 1, 14, 15, 32, 300]))
            if kind == 5: return datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=dice.randrange(-10**8, 10**9))
            if kind == 6: return plistlib.UID(dice.randrange(2**dice.choice([3, 12, 30])))
            if kind < 9: return [value(depth + 1) for _ in range(dice.choice([0, 1, 3, 14, 15, 16]))]
            return top(depth + 1)
        def top(depth):
            return {text() + str(n): value(depth + 1) for n in range(dice.choice([0, 1, 3, 20]))}
        lists = []
        for n in range(int(sys.argv[2])):
            root = top(0)
            if dice.random() < 0.5: root["ShipStoreMetadata"] = {"old": "x", "note": "y"}
            data = plistlib.dumps(root, fmt=plistlib.FMT_BINARY, sort_keys=dice.random() < 0.5)
            if len(data) > 20000: continue
            lists.append((plistlib.loads(data), data))
            print(data.hex())
        print("end", flush=True)
        for root, data in lists:
            with_pairs, without = (plistlib.loads(bytes.fromhex(sys.stdin.readline())) for _ in range(2))
            plain = {key: value for key, value in root.items() if key != "ShipStoreMetadata"}
            assert without == plain, (without, plain)
            assert list(map(str, without)) == list(map(str, plain))
            assert with_pairs == plain | {"ShipStoreMetadata": {"app": "4.2", "note": "日本 🍲"}}, with_pairs
        print("well")
        """

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
        }
    }

    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    private static let pairs = PropertyListValue.dictionary(["app": .string("4.2"), "note": .string("日本 🍲")])
    private static let key = "ShipStoreMetadata"

    @Test(arguments: Soak.isOn ? Array(1...60) : [1, 2])
    func `what is set is there, and everything else as it was`(seed: Int) async throws {
        let judge = try ChildProgram(
            "/usr/bin/env", ["python3", "-c", Self.judge, "\(seed)", "40"], input: .pipe)
        _ = try await judge.waitForLine(containing: "end", on: .output)
        let lists = judge.text(.output).split(separator: "\n").filter { $0 != "end" }.map(String.init)
        try #require(lists.count > 20)
        for text in lists {
            let original = bytes(text)
            var list = try #require(EditablePropertyList(original))
            // plistlib's own lists are as narrow as can be, and so come out as they were.
            #expect(list.bytes == original)
            list.set(Self.pairs, for: Self.key)
            await judge.write(Array((hex(list.bytes) + "\n").utf8))
            list.set(nil, for: Self.key)
            await judge.write(Array((hex(list.bytes) + "\n").utf8))
            if PropertyListValue(original)?.dictionary?[Self.key] == nil { #expect(list.bytes == original) }
        }
        let outcome = try await judge.wait(timeout: .seconds(60))
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(outcome.stdout.hasSuffix("well\n"))
    }

    @Test func `a list that was damaged anywhere is refused, or changed without a trap`() throws {
        var generator = RepeatableRandom(seed: 3)
        let sample: [String: Any] = [
            "NSStoreModelVersionHashes": ["Recipe": Data(0..<32)], "list": [1, "two", true],
            "name": "日本", Self.key: ["old": "x"],
        ]
        let original = Array(try PropertyListSerialization.data(fromPropertyList: sample, format: .binary, options: 0))
        for _ in 0..<20_000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            guard var list = EditablePropertyList(bytes) else { continue }
            let before = try #require(PropertyListValue(bytes)?.dictionary)
            list.set(Self.pairs, for: Self.key)
            let after = try #require(PropertyListValue(list.bytes)?.dictionary)
            #expect(after[Self.key] == Self.pairs)
            #expect(after.filter { $0.key != Self.key } == before.filter { $0.key != Self.key })
        }
    }

    @Test func `a list in XML becomes a binary one that says the same`() throws {
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>yes</key><true/><key>no</key><false/><key>one</key><integer>1</integer>
            <key>most</key><integer>18446744073709551615</integer><key>least</key><integer>-9223372036854775808</integer>
            <key>half</key><real>0.5</real><key>whole</key><real>2</real><key>when</key><date>2001-01-01T00:00:09Z</date>
            <key>data</key><data>AAEC</data><key>list</key><array><string>x &amp; y</string><dict/></array>
            </dict></plist>
            """
        let expected: [String: PropertyListValue] = [
            "yes": .boolean(true), "no": .boolean(false), "one": .integer(1), "most": .integer(Int128(UInt64.max)),
            "least": .integer(Int128(Int64.min)), "half": .real(0.5),
            // A decoder does not tell it from an integer, and a number's value is the same.
            "whole": .integer(2), "when": .date(9),
            "data": .data([0, 1, 2]), "list": .array([.string("x & y"), .dictionary([:])]),
        ]
        #expect(PropertyListValue(Array(xml.utf8)) == .dictionary(expected))
        let list = try #require(EditablePropertyList(Array(xml.utf8)))
        #expect(list.bytes.starts(with: Array("bplist00".utf8)))
        #expect(PropertyListValue(list.bytes) == .dictionary(expected))
    }

    @Test func `what has no dictionary at its top is not changed`() throws {
        for list: Any in [["x"], "x", 1] {
            let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            #expect(EditablePropertyList(Array(bytes)) == nil)
        }
    }
}
