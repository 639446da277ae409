/// Where a generator takes its decisions from: the numbers of a seed, or the bytes of a fuzzer.
package struct Choices {
    private let draw: (UInt64) -> UInt64

    /// - Parameter draw: Gives a number below its argument, which is at least 2.
    package init(_ draw: @escaping (UInt64) -> UInt64) { self.draw = draw }

    /// Decisions that follow from bytes, small ones from one byte each; 0 after the last.
    package init(from bytes: [UInt8]) {
        var rest = bytes[...]
        draw = { bound in
            var (number, most) = (UInt64(0), UInt64(1))
            while most < bound {
                number = number << 8 | UInt64(rest.popFirst() ?? 0)
                most = most >= 1 << 56 ? .max : most << 8
            }
            return number % bound
        }
    }

    /// A number from 0 on.
    package func below(_ bound: Int) -> Int { bound < 2 ? 0 : Int(draw(UInt64(bound))) }

    package func number(in range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }

    package func chance(_ percent: Int) -> Bool { below(100) < percent }

    package func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// A number of up to `bits` bits: as often a short one as a long one.
    package func bits(upTo bits: Int = 64) -> UInt64 {
        let width = UInt64(below(bits + 1))
        guard width > 0 else { return 0 }
        return (UInt64(below(1 << 32)) << 32 | UInt64(below(1 << 32))) >> (64 - width)
    }

    /// An integer of any width, of either sign.
    package func integer() -> Int64 { Int64(bitPattern: chance(30) ? ~bits() : bits()) }

    /// A length up to `most`: as often a short one as a long one.
    package func length(upTo most: Int) -> Int {
        guard most > 0 else { return 0 }
        let width = Int.bitWidth - most.leadingZeroBitCount
        return min(most, Int(bits(upTo: width)))
    }

    /// Noise.
    package func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 4)
        while bytes.count < count {
            let number = UInt32(below(1 << 32))
            for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        return Array(bytes.prefix(count))
    }

    private static let words = """
        the of and a to in is that it was for on are as with his they at be this from have or by one had not but what all
        were when we there can an your which their said if do will each about how up out them then she many some so these
        would other into has more her two like him see time could no make than first been its who now people my made over
        recipe kitchen pepper salt flour sugar butter lemon onion garlic bread soup roast trifle Zürich Größe naïve 東京 🚢
        """.split(whereSeparator: \.isWhitespace).map(String.init)

    /// Some words come far more often than others.
    package func word() -> String { Self.words[min(below(Self.words.count), below(Self.words.count))] }

    /// A word that nobody has heard, with letters of one or two bytes.
    package func inventedWord() -> String {
        let ends = ["", "n", "r", "st", "ß", "t"]
        return (0..<number(in: 1...4)).map { _ in
            pick(["b", "d", "k", "l", "m", "s", "tr", "Gr", "ž", ""]) + pick(["a", "e", "i", "o", "ü"]) + pick(ends)
        }.joined()
    }

    /// Words, apart by spaces.
    ///
    /// - Parameter isEdited: Whether one of them is another than it would be.
    package func sentence(_ count: Int, isEdited: Bool = false) -> String {
        var words = (0..<max(1, count)).map { _ in chance(4) ? String(below(100_000)) : word() }
        if isEdited { words[words.count / 2] = "edited" }
        return words.joined(separator: " ")
    }
}
