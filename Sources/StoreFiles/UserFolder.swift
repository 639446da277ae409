package import SystemPackage

/// The folders that programs keep for their user.
///
/// Source: the XDG Base Directory Specification.
package enum UserFolder {
    /// The path that a variable names, if that is absolute; or else a folder in the user's home.
    ///
    /// - Parameters:
    ///   - variable: `XDG_CONFIG_HOME`, or the like.
    ///   - standard: Relative to the home.
    package static func named(_ variable: String, or standard: FilePath) -> FilePath {
        absolutePath(in: variable) ?? home.appending(standard.components)
    }

    /// `$HOME`, as every other program takes it: also under sudo and in containers, where the user database says something else. The
    /// database counts only if the variable is not an absolute path.
    private static var home: FilePath { absolutePath(in: "HOME") ?? PlatformCalls.listedHome }

    private static func absolutePath(in variable: String) -> FilePath? {
        PlatformCalls.path(inVariable: variable).flatMap { $0.isAbsolute ? $0 : nil }
    }
}
