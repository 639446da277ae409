import ShipStore

/// A store's facts, and its tables as bars.
struct InspectionTable {
    private static let barWidth = 24

    let lines: [String]

    init(_ inspection: Inspection) {
        let signer = inspection.signer.map { ["  signed by \($0)"] } ?? []
        lines = Self.head(inspection.manifest) + signer + Self.table(inspection)
    }

    private static func head(_ manifest: Manifest) -> [String] {
        let store = manifest.store
        var lines = [
            "\(manifest.name)  \(manifest.summary)  sha256 \(store.sha256.hex.prefix(16))",
            "  \(store.pageCount) pages of \(store.pageSize) bytes, \(store.textEncoding.rawValue), "
                + "user_version \(store.userVersion), application_id \(store.applicationID), "
                + "schema \(store.schemaSHA256.hex.prefix(16))",
            "  copied \(manifest.createdAt) by \(Printable.text(manifest.producer.software)), "
                + "SQLite \(Printable.text(manifest.producer.sqlite))",
        ]
        if let coreData = manifest.coreData {
            lines.append(
                "  Core Data, \(coreData.entityVersionHashes.count) entities"
                    + (manifest.identity.map { ", store \(Printable.text($0))" } ?? ""))
        }
        if !manifest.missingExternalFiles.isEmpty {
            let count = manifest.missingExternalFiles.count
            lines.append("  without \(count) missing external file\(count == 1 ? "" : "s")")
        }
        lines += OmissionWords(manifest).lines.map { "  \($0)" }
        return lines
            + manifest.metadata.sorted { $0.key < $1.key }.map { "  \($0.key)=\(Printable.text($0.value))" }
    }

    private static func table(_ inspection: Inspection) -> [String] {
        let total = max(1, inspection.tables.reduce(0) { $0 + $1.cost })
        let rows = inspection.tables.map { table in
            let share = Int((Double(table.cost) / Double(total) * Double(barWidth)).rounded())
            return [
                Printable.text(table.name), table.rows.map(String.init) ?? "?", Figures.bytes(table.size),
                Figures.bytes(table.cost), String(repeating: "█", count: share),
            ]
        }
        let head = ["table", "rows", "bytes", "to ship", ""]
        let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
        return ([head] + rows).map { row in
            row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 || column == 4 ? row[column] + padding : padding + row[column]
            }.joined(separator: "  ").trimmingTrailingSpaces
        }.map { "  " + $0 }
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
