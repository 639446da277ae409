import ShipProtocol
import Testing

/// What a JSON reader may let pass, and this one must not.
@Suite struct `A message` {
    private func answer(_ json: String) throws -> Answer? {
        guard case .answer(let answer) = try frame(.answer, json: json) else { return nil }
        return answer
    }

    @Test(arguments: [
        "", " ", "null", "0", "\"\"", "[]", "{", "{}}", "{} {}", "{},", ",", "{\"wants\":[1,]}", "{\"wants\":[1],}",
        "{,\"wants\":[1]}", "{\"wants\" [1]}", "{\"wants\":}", "{skip:[1]}", "{'skip':[1]}", "{\"wants\":[1]]}",
        "{\"x\":[}", "{\"x\":{]}", "{\"x\" \"y\"}", "{\"x\":1 \"y\":2}", "{\"x\":[1 2]}", "{\"x\"}",
    ])
    func `that is no JSON object is refused`(json: String) {
        let error = #expect(throws: ProtocolError.self) { try frame(.answer, json: json) }
        #expect(error?.code == .badManifest)
    }

    @Test(arguments: [
        "01", "-", "-01", "+1", ".5", "1.", "1.e3", "1e", "1e+", "0x10", "1_000", "NaN", "Infinity", "-Infinity", "nul",
        "tru", "True", "undefined", "\"\u{1}\"", "\"\t\"", "\"\\x41\"", "\"\\'\"", "\"\\u12g4\"", "\"\\u123\"", "\"\\",
        "\"",
        "\u{A0}1", "\u{B}1", "\u{C}1", "\u{2028}1", "/* */ 1", "1 // one\n", "# one\n1", "'x'",
    ])
    func `that holds no JSON in a member that nobody knows is refused`(value: String) {
        let error = #expect(throws: ProtocolError.self) { try frame(.answer, json: "{\"x\":\(value)}") }
        #expect(error?.code == .badManifest)
    }

    @Test(arguments: [
        "0", "-0", "-1.25e-7", "1E+9", "123456789012345678901234567890", "true", "false", "null", "\"\"",
        "\"\\u0000\\\"\\/\"",
        "\"\u{7F}\u{2028}\"", "[]", "{}", "[[],{}]", " \t\r\n1 ", "{\"\":[null]}",
    ])
    func `may hold any JSON in a member that nobody knows`(value: String) throws {
        #expect(try answer("{\"x\":\(value),\"wants\":[{\"part\":1}]}")?.wants?.map(\.part) == [1])
    }

    @Test(arguments: ["{\"wants\":[]}", " { \"wants\" : [ ] }\n"])
    func `is read only as UTF-8`(json: String) throws {
        #expect(try frame(.answer, [0] + Array(json.utf8)) != nil)
        let littleEndian = json.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let surrogate: [UInt8] = Array(",\"x\":\"".utf8) + [0xED, 0xA0, 0x80] + Array("\"}".utf8)
        let foreign: [[UInt8]] = [
            [0xEF, 0xBB, 0xBF] + Array(json.utf8),
            json.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] },
            littleEndian,
            [0xFF, 0xFE] + littleEndian,
            json.utf16.flatMap { [0, 0, 0, UInt8($0 & 255)] },
            json.utf16.flatMap { [UInt8($0 & 255), 0, 0, 0] },
            Array(json.utf8) + [0],
            Array(json.utf8.dropLast()) + surrogate,
        ]
        for bytes in foreign {
            let error = #expect(throws: ProtocolError.self) { try frame(.answer, [0] + bytes) }
            #expect(error?.code == .badManifest)
        }
    }

    @Test func `may nest 32 levels, brackets in strings not counted`() throws {
        func nested(_ levels: Int) -> String {
            "{\"s\":\"[[{\\\"[\",\"x\":" + String(repeating: "[", count: levels - 1)
                + String(repeating: "]", count: levels - 1) + "}"
        }
        #expect(try answer(nested(32)) != nil)
        #expect(throws: ProtocolError.self) { try answer(nested(33)) }
        #expect(throws: ProtocolError.self) { try answer(nested(100_000)) }
        #expect(throws: ProtocolError.self) { try answer(String(repeating: "{\"x\":", count: 200_000)) }
    }

    @Test(arguments: ["code", "message"])
    func `says nothing with U+0000`(member: String) throws {
        let others = ["code": "message", "message": "code"]
        let json = "{\"\(member)\":\"a\\u0000b\",\"\(others[member] ?? "")\":\"x\"}"
        #expect(throws: ProtocolError.self) { try frame(.refusal, json: json) }
        #expect(Reason(.busy, message: "a\0b").message == "ab")
    }

    @Test func `is cut to what fits, between characters`() throws {
        let reason = Reason(.busy, message: String(repeating: "é", count: 513))
        #expect(reason.message.unescaped.utf8.count == 1024)
        #expect(
            try frame(.refusal, Array(Frame.refusal(reason).serialized().dropFirst(5).dropLast(4))) == .refusal(reason))
    }

    @Test func `that requires what is not known is refused for that, whatever else is wrong with it`() {
        for json in ["{\"requires\":[\"time-travel\"]}", "{\"requires\":[\"time-travel\"],\"name\":\"../x\"}"] {
            #expect(throws: ProtocolError.featureNotSupported("time-travel")) { try frame(.manifest, json: json) }
        }
        for json in ["{\"requires\":[\"\"]}", "{\"requires\":[]}", "{\"requires\":[1]}", "{\"requires\":[\"x\"]"] {
            let error = #expect(throws: ProtocolError.self) { try frame(.manifest, json: json) }
            #expect(error?.code == .badManifest)
        }
    }

    @Test func `that is wrong is described without the other side's text`() {
        let json = "{\"metadata\":{\"\\u001b[31m\":1},\"requires\":[]}"
        let error = #expect(throws: ProtocolError.self) { try frame(.manifest, json: json) }
        guard case .badMessage(_, let flaw) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(flaw.unescaped.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "\(flaw)")
    }
}
