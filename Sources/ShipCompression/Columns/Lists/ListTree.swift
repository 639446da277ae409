/// The objects of one property list, as a tree. A parser makes one of a list's bytes, a decoder one of codes; a writer makes the list.
struct ListTree {
    enum Kind: UInt8 {
        case null
        case no
        case yes
        case integer
        case real
        case float
        case date
        case data
        case ascii
        case utf16
        case uid
        case array
        case dictionary
        /// An ASCII text that is among the names of keys; else as `ascii`.
        case name
    }

    /// An object, and what it takes to write it.
    struct Object: Hashable {
        let kind: Kind
        /// Of numbers, reals and dates the bits; of bytes where they start in the buffer of their kind; of an array or a dictionary
        /// the index of its first reference.
        let value: UInt64
        /// Bytes; elements; columns, whose keys come first among the references and then their values; of an integer which of the
        /// objects that are equal it is, from 0.
        let count: Int32

        init(_ kind: Kind, _ value: UInt64 = 0, count: Int = 0) {
            self.kind = kind
            self.value = value
            self.count = Int32(truncatingIfNeeded: count)
        }

        var firstReference: Int { Int(truncatingIfNeeded: value) }
    }

    /// Where the bytes of data, texts and names are, which are one buffer in a list that was parsed.
    struct Bytes {
        var data: [UInt8] = []
        var ascii: [UInt8] = []
        var utf16: [UInt8] = []
        var names: [UInt8] = []
    }

    var objects: [Object] = []
    /// Indexes of `objects`. The first is that of the top, and those of an archive's table follow where a decoder made it.
    var references: [Int32] = []
    var bytes = Bytes()

    /// - Returns: The bytes of data, of a text or of a name.
    func bytes(of object: Object) -> ArraySlice<UInt8> {
        let range = object.firstReference..<object.firstReference + Int(object.count)
        switch object.kind {
        case .ascii: return bytes.ascii[range]
        case .utf16: return bytes.utf16[range]
        case .name: return bytes.names[range]
        case .null, .no, .yes, .integer, .real, .float, .date, .data, .uid, .array, .dictionary:
            return bytes.data[range]
        }
    }

    /// The tree of no list yet; what it has taken of memory stays.
    mutating func clear() {
        objects.removeAll(keepingCapacity: true)
        references.removeAll(keepingCapacity: true)
    }
}

extension ListTree.Kind {
    /// What several references may lead to, whose number is said where it comes again.
    var isShared: Bool {
        switch self {
        case .real, .float, .date, .data, .ascii, .utf16, .name: true
        case .null, .no, .yes, .integer, .uid, .array, .dictionary: false
        }
    }
}
