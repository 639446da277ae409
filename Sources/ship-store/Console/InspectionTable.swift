import ShipStore

/// A store's facts, its tables as bars, and what of them is not the app's data.
struct InspectionTable {
    private static let barWidth = 24

    let lines: [PrintableText]

    init(_ inspection: Inspection) {
        let signer: [PrintableText] = inspection.signer.map { ["  signed by \($0)"] } ?? []
        let file: [PrintableText] = inspection.fileSize.map { ["  the file has \(Figures.bytes($0))"] } ?? []
        lines = Self.head(inspection.manifest) + signer + file + Self.table(inspection) + Self.ballast(inspection)
    }

    private static func ballast(_ inspection: Inspection) -> [PrintableText] {
        let rows = inspection.ballast.map { ballast in
            [
                ballast.tables.map(\.text).joined(separator: ", "), Figures.bytes(ballast.cost),
                BallastWords(ballast).text,
            ]
        }
        return TextColumns(rows, under: [.left("not app data"), .right("to ship"), .left("")]).lines.map { "  \($0)" }
    }

    private static func head(_ manifest: Manifest) -> [PrintableText] {
        let store = manifest.store
        var lines: [PrintableText] = [
            "\(manifest.name)  \(manifest.summary)  sha256 \(store.sha256.hex.prefix(16))",
            "  \(store.pageCount) pages of \(store.pageSize) bytes, \(store.textEncoding.rawValue), "
                + "user_version \(store.userVersion), application_id \(store.applicationID), "
                + "schema \(store.schemaSHA256.hex.prefix(16))",
            "  copied \(manifest.createdAt) by \(manifest.producer.software), "
                + "SQLite \(manifest.producer.sqlite)",
        ]
        if let coreData = manifest.coreData {
            lines.append(
                "  Core Data, \(coreData.entityVersionHashes.count) entities"
                    + (manifest.identity.map { ", store \($0)" } ?? ""))
        }
        if !manifest.missingExternalFiles.isEmpty {
            let count = manifest.missingExternalFiles.count
            lines.append("  without \(count) missing external file\(count == 1 ? "" : "s")")
        }
        lines += OmissionWords(manifest).lines.map { "  \($0)" }
        return lines
            + manifest.metadata.sorted { $0.key < $1.key }.map { "  \($0.key)=\($0.value)" }
    }

    private static func table(_ inspection: Inspection) -> [PrintableText] {
        let total = max(1, inspection.tables.reduce(inspection.externalCost) { $0 + $1.cost })
        func row(_ name: String, _ count: String, _ size: Int64, _ cost: Int64) -> [String] {
            let share = Int((Double(cost) / Double(total) * Double(barWidth)).rounded())
            return [name, count, Figures.bytes(size), Figures.bytes(cost), String(repeating: "█", count: share)]
        }
        let manifest = inspection.manifest
        var rows = inspection.tables.map { table in
            row(table.name.text, table.rows.map(String.init) ?? "?", table.size, table.cost)
        }
        if !manifest.externalFiles.isEmpty {
            let size = manifest.totalSize - manifest.store.size
            rows.append(row("(external files)", "\(manifest.externalFiles.count)", size, inspection.externalCost))
        }
        rows.append(["(all)", "", Figures.bytes(manifest.totalSize), Figures.bytes(inspection.cost), ""])
        let headings: [TextColumns.Heading] = [
            .left("table"), .right("rows"), .right("bytes"), .right("to ship"), .left(""),
        ]
        return TextColumns(rows, under: headings).lines.map { "  \($0)" }
    }
}

/// What ballast is and what becomes of it, for people.
struct BallastWords {
    /// The option of `send` that leaves it out; `nil` where it stays.
    let option: String?
    let text: String

    init(_ ballast: Ballast) {
        let what: String
        switch ballast.kind {
        case .history: (option, what) = ("--strip-history", "Core Data's history")
        case .modelCache: (option, what) = (nil, "Core Data's copy of the model")
        case .fullTextIndex(let table): (option, what) = (nil, "full-text index of \(table.text)")
        case .statistics: (option, what) = (nil, "statistics of ANALYZE")
        }
        text = what + (option.map { ": \($0) leaves it out" } ?? ": always goes")
    }
}
