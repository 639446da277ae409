// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding

import ShipProtocol

/// The bytes are the payload of a MANIFEST, packed or not; the JSON of one that is taken is written and read again.
enum ManifestTarget {
    static func run(_ input: [UInt8]) {
        let stream = Preamble(role: .producer, mode: .twoWay).encoded + FuzzFrames.frame(2, input)
        let (elements, _) = FuzzFrames.elements(of: stream, inPiecesOf: stream.count)
        for case .frame(.manifest(let manifest)) in elements { check(manifest) }
        if let manifest = try? Manifest(decoding: input) { check(manifest) }
    }

    private static func check(_ manifest: Manifest) {
        NameRules.check(manifest.name)
        for file in manifest.externalFiles { NameRules.check(file.name) }
        for name in manifest.missingExternalFiles { NameRules.check(name) }
        for file in manifest.omissions?.externalFiles ?? [] { NameRules.check(file.name) }
        precondition(manifest.store.size == Int64(manifest.store.pageSize) * manifest.store.pageCount, "pages")
        precondition(manifest.parts.allSatisfy { (0...Limits.partSize).contains($0.size) }, "the size of a part")
        let json = manifest.jsonBytes
        do throws(ProtocolError) {
            let again = try Manifest(decoding: json)
            precondition(again == manifest, "the manifest of the manifest is another")
        } catch {
            fatalError("what was taken is not taken again: \(error)")
        }
    }
}
