/// Strings that hold those of another column, without them.
struct HeldStrings {
    /// Shorter ones are found by chance.
    private static let shortest = 2
    /// The search takes the product of both lengths at worst.
    private static let longest = 256
    private static let longestHolder = 16_384

    /// Where the held string is, from 1 on; 0 where it is not.
    private(set) var places: [Int64] = []
    private(set) var rest = Strings()
    /// How many hold one.
    private(set) var number = 0

    init(_ strings: Strings, holding other: Strings) {
        rest.bytes.reserveCapacity(strings.totalLength)
        for index in 0..<strings.count {
            guard let place = Self.place(of: other, in: strings, at: index) else {
                places.append(0)
                rest.append(strings[index])
                continue
            }
            number += 1
            places.append(Int64(place) + 1)
            let start = rest.bytes.count
            let string = strings[index]
            rest.bytes += string.prefix(place)
            rest.bytes += string.dropFirst(place + Int(other.lengths[index]))
            rest.append(start: start, length: rest.bytes.count - start)
        }
    }

    /// - Parameter rows: Those that are looked at.
    /// - Returns: How many bytes they would have less; `nil` unless most of them hold one.
    static func saved(_ strings: Strings, holding other: Strings, in rows: [Int]) -> Int? {
        var (saved, missed) = (0, 0)
        for row in rows {
            if place(of: other, in: strings, at: row) != nil {
                saved += Int(other.lengths[row])
            } else {
                missed += 1
                if missed * 2 >= rows.count { return nil }
            }
        }
        return saved
    }

    private static func place(of other: Strings, in strings: Strings, at index: Int) -> Int? {
        let (length, held) = (Int(strings.lengths[index]), Int(other.lengths[index]))
        guard held >= shortest, held <= min(length, longest), length <= longestHolder else { return nil }
        return strings.bytes.withUnsafeBufferPointer { text in
            other.bytes.withUnsafeBufferPointer { sought in
                let (start, first) = (Int(strings.starts[index]), Int(other.starts[index]))
                for place in 0...(length &- held) where text[start &+ place] == sought[first] {
                    var same = 1
                    while same < held, text[start &+ place &+ same] == sought[first &+ same] { same &+= 1 }
                    if same == held { return place }
                }
                return nil
            }
        }
    }
}
