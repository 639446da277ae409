/// The rule for short texts that programs write for programs, and that end up in logs and files: 1 to 256 bytes, no U+0000.
///
/// Source: `Protocol/README.md` section 4.3.
package enum Label {
    package static func isValid(_ text: ForeignText) -> Bool {
        (1...Limits.labelLength).contains(text.unescaped.utf8.count) && !text.unescaped.utf8.contains(0)
    }
}
