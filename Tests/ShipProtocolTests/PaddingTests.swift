import Testing

@testable import ShipProtocol

@Suite struct PaddingTests {
    @Test func `what is written has a multiple of the step, whatever it is, and comes out as it went in`() throws {
        for count in [1, 16, 4078, 4087, 4088, 4095, 4096, 4097, 8183, 8192, 100_000] {
            let padding = Frame.padding(before: count)
            #expect((count + padding.count) % Frame.paddingStep == 0)
            #expect(padding.count < Frame.paddingStep + 9)
            guard !padding.isEmpty else { continue }
            var parser = FrameParser()
            parser.append(Preamble(role: .producer, mode: .twoWay).encoded + padding)
            parser.append(try Frame.end.serialized())
            _ = try parser.next()
            #expect(try parser.next() == .unknownOptionalFrame)
            #expect(try parser.next() == .frame(.end))
            #expect(parser.emptyBytes == Int64(padding.count))
        }
    }
}
