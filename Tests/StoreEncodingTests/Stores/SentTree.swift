import StoreFormat

@testable import StoreEncoding

/// How a tree is sent, from the elements of its stream.
enum SentTree: Hashable {
    case table, entries, derived

    /// - Returns: Of all trees after that of the schema, in their order.
    static func all(in elements: [SegmentContent.Element]) -> [SentTree] {
        var trees: [SentTree] = []
        var isTable = true
        var index = 0
        while index < elements.count {
            guard case .number(let number) = elements[index], let tag = ItemTag(rawValue: number) else { return trees }
            switch tag {
            case .settings: index += 11
            case .rows, .chunk: index += 2
            case .longRow: index += isTable ? 3 : 2
            case .table:
                (isTable, index) = (true, index + 1)
                trees.append(.table)
            case .entries:
                (isTable, index) = (false, index + 1)
                trees.append(.entries)
            case .derived:
                guard case .number(let count) = elements[index + 1] else { return trees }
                index += 2 + Int(count)
                trees.append(.derived)
            // The walk is one that derives no leaves.
            case .later, .leaves: return trees
            case .end: index += 1
            }
        }
        return trees
    }
}
