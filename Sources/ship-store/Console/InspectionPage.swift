import EssentialFoundation
import ShipStore
import StoreFiles

/// The content of stores and the cost of shipping it, as one page of HTML that needs nothing else: a treemap to click through.
///
/// Names come from stores of others. The page holds them only as JSON, with each `<` escaped, and its script sets them as text, never as
/// HTML. A Content-Security-Policy forbids the page to load or send anything, and allows only its own script, by digest.
struct InspectionPage {
    /// The beginning of every page of this kind.
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
                name: table.name.text, cost: table.cost, note: ballast.map { $0.words }, rows: table.rows,
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
            "default-src 'none'; base-uri 'none'; form-action 'none'; style-src \(WebPage.source(of: Self.style)); "
            + "script-src \(WebPage.source(of: Self.script))"
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
            // JSON has `<` only inside strings, where this escape is allowed. A plain `</script>` would end the script.
            page += byte == UInt8(ascii: "<") ? Array(#"\u003c"#.utf8) : [byte]
        }
        return page + "</script>\n<script>\(Self.script)</script>\n</html>\n".utf8
    }
}

/// The part that is the same in every page: how it looks, and what it does.
extension InspectionPage {
    static let style = """

        :root { color-scheme: light dark; --ink: #24292f; --page: #fff; --line: #d0d7de; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --page: #0d1117; --line: #444c56; } }
        body { margin: 1rem; font: 14px/1.4 system-ui, sans-serif; color: var(--ink); background: var(--page); }
        h1 { font-size: 1.1rem; margin: 0 0 .2rem; }
        nav button, td button { all: unset; cursor: pointer; text-decoration: underline; overflow-wrap: anywhere; }
        button:focus-visible { outline: 3px solid #58a6ff; outline-offset: -3px; }
        p { margin: .2rem 0 .6rem; overflow-wrap: anywhere; }
        #map { position: relative; height: 65vh; min-height: 300px; }
        .area { all: unset; position: absolute; box-sizing: border-box; overflow: hidden; border: 1px solid var(--page);
                color: #fff; font: 12px/16px system-ui, sans-serif; }
        .area span { position: absolute; left: 4px; right: 2px; top: 1px; overflow: hidden; white-space: nowrap;
                     text-overflow: ellipsis; }
        .area span + span { top: 17px; }
        button.area { cursor: pointer; }
        .area .area { pointer-events: none; border-color: rgb(255 255 255 / 25%); }
        .wrap { overflow-x: auto; }
        table { border-collapse: collapse; margin-top: 1rem; }
        td, th { padding: .15rem .8rem .15rem 0; text-align: right; border-bottom: 1px solid var(--line); }
        td:first-child, th:first-child { text-align: left; }

        """

    static let body = """
        <body>
        <h1>What it takes to ship</h1>
        <nav id="way" aria-label="where you are"></nav>
        <p id="note"></p>
        <noscript>This page draws with JavaScript.</noscript>
        <div id="map"></div>
        <p>An area is as large as its share of the bytes to ship, and a name has one colour wherever it stands. A darker area
        opens at a click; Escape leads back.</p>
        <div class="wrap"><table><thead id="heads"></thead><tbody id="list"></tbody></table></div>
        </body>
        """

    static let script = #"""

        "use strict";
        const root = JSON.parse(document.getElementById("data").textContent);
        const [map, way, note, heads, list] = ["map", "way", "note", "heads", "list"].map(id => document.getElementById(id));
        const most = 1000;
        const make = (name, text = "", className = "") => {
            const element = document.createElement(name);
            element.textContent = text;
            element.className = className;
            return element;
        };
        const bytes = count => {
            if (count < 1000) return `${count} B`;
            const units = ["kB", "MB", "GB", "TB"];
            let unit = -1;
            do { count /= 1000; unit++; } while (count >= 999.5 && unit < units.length - 1);
            return `${count.toFixed(count < 9.995 ? 2 : count < 99.95 ? 1 : 0)} ${units[unit]}`;
        };
        const share = (part, all) => all ? `${(100 * part / all).toFixed(1)} %` : "";
        const visible = area => (area.parts ?? []).filter(part => part.cost > 0).sort((a, b) => b.cost - a.cost);

        // Squarified: rows of rectangles along the shorter side, each as near to a square as can be.
        function layOut(parts, x, y, width, height, place) {
            let left = parts.reduce((sum, part) => sum + part.cost, 0), first = 0;
            while (first < parts.length && width >= 1 && height >= 1) {
                const side = Math.min(width, height), scale = width * height / left;
                let sum = 0, end = first, worst = Infinity;
                while (end < parts.length) {
                    const next = sum + parts[end].cost, depth = next * scale / side;
                    const ratio = Math.max(...[parts[first], parts[end]].map(part => {
                        const length = part.cost * scale / depth;
                        return Math.max(length / depth, depth / length);
                    }));
                    if (ratio > worst) break;
                    [worst, sum] = [ratio, next];
                    end++;
                }
                const depth = sum * scale / side;
                let offset = 0;
                for (const part of parts.slice(first, end)) {
                    const length = part.cost * scale / depth;
                    if (width >= height) place(part, x, y + offset, depth, length);
                    else place(part, x + offset, y, length, depth);
                    offset += length;
                }
                if (width >= height) { x += depth; width -= depth; } else { y += depth; height -= depth; }
                left -= sum;
                first = end;
            }
        }

        const label = (part, whole) => `${part.name}: ${bytes(part.cost)}, ${share(part.cost, whole)}`;
        const hue = name => [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 7);
        function box(part, kind, isOpen, light, x, y, width, height) {
            const element = make(kind, "", "area"), size = bytes(part.cost);
            element.append(...(!isOpen && height > 34 ? [part.name, size] : [`${part.name} ${size}`]).map(text => make("span", text)));
            Object.assign(element.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px`,
                                           background: `hsl(${hue(part.name)} 45% ${light}%)` });
            return element;
        }

        // The way to an area stands behind the # of the address, so that the browser's own "back" leads up.
        const indexes = () => location.hash.split("/").slice(1).map(Number);
        function wayTo(indexes) {
            const path = [root];
            for (const index of indexes) {
                const part = path[path.length - 1].parts?.[index];
                if (!part?.parts) break;
                path.push(part);
            }
            return path;
        }
        const key = indexes => ["", ...indexes].join("/");
        const leadTo = (element, indexes) => {
            element.dataset.key = key(indexes);
            element.onclick = () => { location.hash = key(indexes); };
        };

        function draw() {
            const focused = document.activeElement, before = focused?.closest("#way, #map, #list");
            const path = wayTo(indexes()), area = path[path.length - 1], here = indexes().slice(0, path.length - 1);
            const steps = path.map((step, index) => {
                const isHere = index === path.length - 1, element = make(isHere ? "b" : "button", step.name);
                leadTo(element, here.slice(0, index));
                if (isHere) element.tabIndex = -1;
                return element;
            });
            way.replaceChildren(...steps.flatMap((step, index) => index ? [" › ", step] : [step]));
            const facts = [`${bytes(area.cost)} to ship`];
            if (area.size !== undefined) facts.push(`${bytes(area.size)} in the store`);
            if (area.rows !== undefined) facts.push(`${area.rows} rows`);
            note.textContent = [...facts, ...(area.note ? [area.note] : [])].join(", ");
            const parts = visible(area);
            const opens = (element, part) => leadTo(element, [...here, area.parts.indexOf(part)]);
            map.replaceChildren();
            layOut(parts.slice(0, most), 0, 0, map.clientWidth, map.clientHeight, (part, x, y, width, height) => {
                const inner = visible(part).slice(0, most);
                const isOpen = inner.length && width > 60 && height > 44;
                const element = box(part, inner.length ? "button" : "div", isOpen, inner.length ? 24 : 32, x, y, width, height);
                element.title = label(part, area.cost);
                element.ariaLabel = element.title;
                if (inner.length) opens(element, part);
                if (isOpen) {
                    layOut(inner, 3, 18, width - 8, height - 23, (column, ...place) => {
                        element.append(box(column, "div", false, 32, ...place));
                    });
                }
                map.append(element);
            });
            const columns = [["to ship", part => bytes(part.cost)], ["share", part => share(part.cost, area.cost)]];
            if (parts.some(part => part.size !== undefined))
                columns.push(["in the store", part => part.size === undefined ? "" : bytes(part.size)]);
            if (parts.some(part => part.rows !== undefined)) columns.push(["rows", part => part.rows ?? ""]);
            const head = make("tr");
            head.append(make("th", "part"), ...columns.map(([title]) => make("th", title)));
            heads.replaceChildren(head);
            list.replaceChildren(...parts.slice(0, most).map(part => {
                const row = make("tr"), name = make("td");
                if (visible(part).length) {
                    const button = make("button", part.name);
                    opens(button, part);
                    name.append(button);
                } else name.textContent = part.name;
                row.append(name, ...columns.map(([, text]) => make("td", text(part))));
                return row;
            }));
            if (parts.length > most) {
                const row = make("tr");
                row.append(make("td", `and ${parts.length - most} smaller ones`));
                list.append(row);
            }
            // What had the focus has been drawn anew; what was opened by it is where one is now.
            const same = `[data-key="${focused?.dataset.key}"]`;
            if (before) (before.querySelector(same) ?? document.querySelector(same))?.focus();
        }

        addEventListener("hashchange", draw);
        addEventListener("resize", draw);
        addEventListener("keydown", event => {
            if (event.key === "Escape" && indexes().length) location.hash = key(indexes().slice(0, -1));
        });
        document.title = `${root.name} · ship-store inspect`;
        draw();

        """#
}
