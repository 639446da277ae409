import EssentialFoundation
import ShipStore

/// The common parts of pages of HTML.
enum WebPage {
    /// How a policy names text that stands in the page itself.
    ///
    /// Source: w3.org/TR/CSP3 section 2.3.1, `hash-source`.
    static func source(of text: String) -> String {
        "'sha256-\(Data(ContentDigest(hashing: text.utf8).bytes).base64EncodedString())'"
    }

    /// Words as the content of an element.
    static func escaped(_ words: PrintableText) -> String {
        words.text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
