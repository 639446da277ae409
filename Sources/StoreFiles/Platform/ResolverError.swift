import CLibrary
import SystemPackage

/// A host that could not be looked up.
package struct ResolverError: Error, Hashable, Sendable {
    /// The resolver's words.
    package let reason: String

    init(code: CInt) {
        reason = code == EAI_SYSTEM ? String(describing: Errno.last) : String(cString: gai_strerror(code))
    }
}
