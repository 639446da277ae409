import ShipStore
import SystemPackage

/// The facts that `status` tells, as a page that looks again by itself. Without JavaScript it stays as it was.
///
/// Words come from stores and peers. They stand in it as text alone, escaped, and its policy allows its own script and style only, by digest.
struct StatusPage {
    static let policy =
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; "
        + "style-src \(WebPage.source(of: style)); script-src \(WebPage.source(of: script))"

    let inbox: FilePath
    let stores: Result<[StoreStatus], ShipmentError>
    let names: [DeviceIdentifier: PeerName]
    /// When this was so.
    let time: Timestamp

    var html: String {
        let place = WebPage.escaped("\(inbox)")
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(WebPage.escaped(summary.words)) · \(place)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <header>
            <h1>ship-store</h1>
            <p>The inbox <b>\(place)</b>, as of <span id="time">\(time.text)</span></p>
            <noscript><p>Without JavaScript this page stays as it is. Load it again to see what is new.</p></noscript>
            <p id="lost" role="alert"></p>
            </header>
            <main>
            <p role="status" class="\(summary.state)">\(WebPage.escaped(summary.words))</p>
            \(content)
            </main>
            <footer><a href="/status.json">status.json</a> <a href="/metrics">metrics</a> <a href="/healthz">healthz</a></footer>
            <script>\(Self.script)</script>
            </body>
            </html>

            """
    }

    private var summary: (state: StoreStatus.State, words: PrintableText) {
        guard case .success(let stores) = stores else { return (.failing, "the inbox cannot be read") }
        let failing = stores.filter { $0.state == .failing }.map { "\($0.name)" as PrintableText }
        if !failing.isEmpty { return (.failing, "failing: \(failing.joined(separator: ", "))") }
        return (.ok, stores.isEmpty ? "no store has been installed yet" : "no store is failing")
    }

    // The script renews elements and texts that stand alone: no element of these has both.

    private var content: String {
        switch stores {
        case .success(let stores): "<ul>\n\(stores.map(item).joined())</ul>"
        case .failure(let error):
            "<ul><li class=\"failing\">\(list([error.cause] + (error.hint.map { [$0] } ?? [])))</li></ul>"
        }
    }

    private func item(_ store: StoreStatus) -> String {
        let facts = zip(StoreStatus.columns, store.fields).dropFirst(2).filter { !$1.isEmpty }.map {
            "<div><dt>\($0.heading)</dt><dd>\(WebPage.escaped("\($1)"))</dd></div>"
        }
        let state = store.state.rawValue
        return """
            <li class="\(state)"><div><h2>\(WebPage.escaped("\(store.name)"))</h2><strong>\(state)</strong></div>\
            <dl>\(facts.joined())</dl>\(list(store.details(names)))</li>

            """
    }

    private func list(_ lines: [PrintableText]) -> String {
        "<ul>\(lines.map { "<li>\(WebPage.escaped($0))</li>" }.joined())</ul>"
    }
}

/// The part that is the same in every page: how it looks, and what it does.
extension StatusPage {
    private static let style = """

        :root { color-scheme: light dark; --ink: #24292f; --soft: #57606a; --page: #f6f8fa; --card: #fff; --line: #d0d7de;
                --ok: #1a7f37; --held: #9a6700; --failing: #cf222e; --empty: #57606a; }
        @media (prefers-color-scheme: dark) {
            :root { --ink: #e6edf3; --soft: #9aa4af; --page: #0d1117; --card: #161b22; --line: #30363d;
                    --ok: #3fb950; --held: #d29922; --failing: #ff7b72; --empty: #9aa4af; }
        }
        body { margin: 0 auto; max-width: 75rem; padding: 1rem; font: 15px/1.45 system-ui, sans-serif; color: var(--ink);
               background: var(--page); overflow-wrap: anywhere; }
        h1, h2 { font-size: 1.1rem; margin: 0; }
        p { margin: .2rem 0; }
        header p, footer, dt { color: var(--soft); }
        main > p { margin: .8rem 0; font-weight: 600; }
        main > .failing { color: var(--failing); }
        ul { list-style: none; margin: 0; padding: 0; }
        main > ul { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); }
        main > ul > li { --state: var(--ok); padding: .7rem .9rem; background: var(--card); border: 1px solid var(--line);
                         border-left: 4px solid var(--state); border-radius: 6px; }
        main > ul > .held { --state: var(--held); }
        main > ul > .failing { --state: var(--failing); }
        main > ul > .empty { --state: var(--empty); }
        li > div { display: flex; gap: .6rem; justify-content: space-between; align-items: baseline; }
        strong { color: var(--state); }
        dl { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: .3rem 0; }
        dt { font-size: .8rem; }
        dd { margin: 0; font-variant-numeric: tabular-nums; }
        li li { border-top: 1px solid var(--line); padding: .25rem 0; }
        footer { margin-top: 1rem; display: flex; gap: 1rem; }
        a { color: inherit; }
        a:focus-visible { outline: 3px solid #58a6ff; outline-offset: 2px; }
        #lost:not(:empty) { padding: .5rem .9rem; border-radius: 6px; background: var(--failing); color: var(--page);
                            font-weight: 600; }
        .lost main { opacity: .6; }

        """

    private static let script = #"""

        "use strict";
        const find = (selector, page = document) => page.querySelector(selector);
        let timer, looks = 0;

        // Leaves what is as it was, so that a selection stays, and a reader of the screen hears only what is new.
        function renew(old, fresh) {
            if (old.isEqualNode(fresh)) return;
            if (old.nodeName !== fresh.nodeName) return old.replaceWith(fresh);
            old.className = fresh.className;
            const items = [...fresh.children];
            if (!items.length) { old.textContent = fresh.textContent; return; }
            if (!old.children.length) old.textContent = "";
            while (old.children.length > items.length) old.lastElementChild.remove();
            items.forEach((item, index) => index < old.children.length ? renew(old.children[index], item) : old.append(item));
        }

        async function look() {
            clearTimeout(timer);
            const number = ++looks;
            let page;
            try {
                const answer = await fetch("/", { signal: AbortSignal.timeout(5000) });
                if (answer.ok) page = new DOMParser().parseFromString(await answer.text(), "text/html");
            } catch { /* It is not there, and that is told below. */ }
            if (number !== looks) return;
            document.body.className = page ? "" : "lost";
            if (page) {
                // The receiver may be another version since.
                if (find("script", page)?.textContent !== find("script").textContent) return location.reload();
                for (const part of ["main", "#time"]) renew(find(part), find(part, page));
            }
            const words = page ? "" : `Not connected since ${find("#time").textContent}: the receiver does not answer. What is here is old.`;
            if (find("#lost").textContent !== words) find("#lost").textContent = words;
            document.title = page ? page.title : "not connected";
            timer = setTimeout(look, document.hidden ? 30000 : 2000);
        }

        document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
        timer = setTimeout(look, 2000);

        """#
}
