/// An answer of a `WebServer`.
package struct WebAnswer: Sendable {
    /// Gets the target of a request, as `/` or `/metrics`, and says what to answer.
    package typealias Answering = @Sendable (_ target: String) async -> WebAnswer

    package let status: Int
    /// Its media type, as `text/html; charset=utf-8`.
    package let type: String
    package let body: [UInt8]
    /// The policy of what the answer, seen as a page, may load and do [w3.org/TR/CSP3].
    package let policy: String

    package init(
        _ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8",
        policy: String = "default-src 'none'; frame-ancestors 'none'"
    ) {
        self.status = status
        self.type = type
        body = Array(text.utf8)
        self.policy = policy
    }
}
