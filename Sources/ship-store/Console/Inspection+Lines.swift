import ShipStore

extension Inspection {
    private static let barWidth = 24

    /// A store's facts, its tables as bars, and what of them is not the app's data.
    var lines: [PrintableText] {
        let signer: [PrintableText] = signer.map { ["  signed by \($0)"] } ?? []
        let file: [PrintableText] = fileSize.map { ["  the file has \(Figures.bytes($0))"] } ?? []
        return manifest.factLines + signer + file + tableLines + ballastLines
    }

    private var ballastLines: [PrintableText] {
        let rows = ballast.map { ballast in
            [
                ballast.tables.map(\.text).joined(separator: ", "), Figures.bytes(ballast.cost),
                ballast.words,
            ]
        }
        let columns: [TextColumn] = [.left("not app data"), .right("to ship"), .left("")]
        return columns.lines(of: rows).map { "  \($0)" }
    }

    private var tableLines: [PrintableText] {
        let total = max(1, tables.reduce(externalCost) { $0 + $1.cost })
        func row(_ name: String, _ count: String, _ size: Int64, _ cost: Int64) -> [String] {
            let share = Int((Double(cost) / Double(total) * Double(Self.barWidth)).rounded())
            return [name, count, Figures.bytes(size), Figures.bytes(cost), String(repeating: "█", count: share)]
        }
        var rows = tables.map { table in
            row(table.name.text, table.rows.map(String.init) ?? "?", table.size, table.cost)
        }
        if !manifest.externalFiles.isEmpty {
            let size = manifest.totalSize - manifest.store.size
            rows.append(row("(external files)", "\(manifest.externalFiles.count)", size, externalCost))
        }
        rows.append(["(all)", "", Figures.bytes(manifest.totalSize), Figures.bytes(cost), ""])
        let columns: [TextColumn] = [
            .left("table"), .right("rows"), .right("bytes"), .right("to ship"), .left(""),
        ]
        return columns.lines(of: rows).map { "  \($0)" }
    }
}

extension Manifest {
    fileprivate var factLines: [PrintableText] {
        var lines: [PrintableText] = [
            "\(name)  \(summary)  sha256 \(store.sha256.hex.prefix(16))",
            "  \(store.pageCount) \(store.pageCount == 1 ? "page" : "pages") of \(store.pageSize) bytes, \(store.textEncoding.rawValue), "
                + "user_version \(store.userVersion), application_id \(store.applicationID), "
                + "schema \(store.schemaSHA256.hex.prefix(16))",
            "  copied \(createdAt) by \(producer.software), "
                + "SQLite \(producer.sqlite)",
        ]
        if let coreData = coreData {
            lines.append(
                "  Core Data, \(coreData.entityVersionHashes.count) entities"
                    + (identity.map { ", store \($0)" } ?? ""))
        }
        if !missingExternalFiles.isEmpty {
            let count = missingExternalFiles.count
            lines.append("  without \(count) missing external file\(count == 1 ? "" : "s")")
        }
        lines += omissionLines().map { "  \($0)" }
        return lines
            + metadata.sorted { $0.key < $1.key }.map { "  \($0.key)=\($0.value)" }
    }
}

extension Ballast {
    /// The option of `send` that leaves it out; `nil` where it stays.
    var option: String? { kind == .history ? "--strip-history" : nil }

    /// Its kind and its fate, for people.
    var words: String {
        let what =
            switch kind {
            case .history: "Core Data's history"
            case .modelCache: "Core Data's copy of the model"
            case .fullTextIndex(let table): "full-text index of \(table.text)"
            case .statistics: "statistics of ANALYZE"
            }
        return what + (option.map { ": \($0) leaves it out" } ?? ": always goes")
    }
}
