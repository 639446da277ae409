// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding

import ShipProtocol

/// The bytes are a name that a peer gives: of a store, of an external file, of a time. What is taken for one is held against
/// the rule, written anew here; and a store's name that a file's name suggests is one.
enum NamesTarget {
    static func run(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        if let name = StoreName(text) {
            precondition(name.text == text, "a name that is not what was given")
            NameRules.check(name)
        }
        NameRules.check(StoreName(suggestedBy: text))
        for folder in ExternalFileName.Folder.allCases {
            if let name = ExternalFileName(folder: folder, uuid: text) { NameRules.check(name) }
        }
        if let time = Timestamp(text) { precondition("\(time)" == text, "a time that is written otherwise") }
        if let digest = ContentDigest(hex: text) {
            precondition(digest.hex == text, "a digest that is written otherwise")
        }
    }
}
