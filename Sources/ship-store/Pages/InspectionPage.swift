import EssentialFoundation
import ShipStore
import StoreFiles

/// What is in stores and what it costs to ship, as one page of HTML that needs nothing else: a treemap to click through.
///
/// Names come from stores that others have made. They stand in the page as JSON alone, in which no `<` is left, and the
/// script sets them as text, never as HTML. The page may load nothing and send nothing, and runs no script but its own, which
/// it names by its digest (Content-Security-Policy).
struct InspectionPage {
    /// What every page of this kind begins with.
    static let start = Array(head.utf8)

    private static let head = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="generator" content="ship-store inspect">

        """

    /// One rectangle of the map; one with parts opens at a click.
    private struct Area: Encodable {
        let name: String
        /// About what it takes on the wire, in bytes. Its parts together take as much.
        let cost: Int64
        var note: String?
        var rows: Int64?
        /// Bytes in the store.
        var size: Int64?
        var parts: [Area]?
    }

    private let data: [UInt8]

    /// - Throws: `EncodingError`.
    init(_ inspections: [Inspection]) throws {
        let stores = inspections.map(Self.area(of:))
        let root =
            stores.count == 1
            ? stores[0]
            : Area(
                name: "all stores", cost: stores.reduce(0) { $0 + $1.cost },
                size: stores.reduce(0) { $0 + ($1.size ?? 0) }, parts: stores)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        data = Array(try encoder.encode(root))
    }

    private static func area(of inspection: Inspection) -> Area {
        let manifest = inspection.manifest
        var parts = inspection.tables.map { table in
            let columns = table.parts.map { Area(name: $0.words.text, cost: $0.cost) }
            let ballast = inspection.ballast.first { $0.tables.contains(table.name) }
            return Area(
                name: table.name.text, cost: table.cost, note: ballast.map { BallastWords($0).text }, rows: table.rows,
                size: table.size, parts: columns.isEmpty ? nil : columns)
        }
        if !manifest.externalFiles.isEmpty {
            parts.append(
                Area(
                    name: "(external files)", cost: inspection.externalCost, rows: Int64(manifest.externalFiles.count),
                    size: manifest.totalSize - manifest.store.size))
        }
        let rest = inspection.cost - parts.reduce(0) { $0 + $1.cost }
        if rest > 0 { parts.append(Area(name: "(manifest and frames)", cost: rest)) }
        let file: PrintableText = inspection.fileSize.map { ", the file has \(Figures.bytes($0))" } ?? ""
        let note: PrintableText =
            "copied \(manifest.createdAt) by \(manifest.producer.software), sha256 "
            + "\(manifest.store.sha256.hex.prefix(16))\(file)"
        return Area(
            name: PrintableText("\(manifest.name)").text, cost: parts.reduce(0) { $0 + $1.cost }, note: note.text,
            size: manifest.totalSize, parts: parts)
    }

    /// The whole page, UTF-8.
    var html: [UInt8] {
        let policy =
            "default-src 'none'; base-uri 'none'; form-action 'none'; style-src \(Self.source(of: Self.style)); "
            + "script-src \(Self.source(of: Self.script))"
        var page = Self.start
        page +=
            """
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <title>ship-store inspect</title>
            <style>\(Self.style)</style>
            </head>
            \(Self.body)
            <script type="application/json" id="data">
            """.utf8
        for byte in data {
            // Inside a string of JSON, where alone it can be, it may be written so; outside it would end the script.
            page += byte == UInt8(ascii: "<") ? Array(#"\u003c"#.utf8) : [byte]
        }
        return page + "</script>\n<script>\(Self.script)</script>\n</html>\n".utf8
    }

    /// How a policy names text that stands in the page itself.
    ///
    /// Source: w3.org/TR/CSP3 section 2.3.1, `hash-source`.
    private static func source(of text: String) -> String {
        "'sha256-\(Data(ContentDigest(hashing: text.utf8).bytes).base64EncodedString())'"
    }
}
