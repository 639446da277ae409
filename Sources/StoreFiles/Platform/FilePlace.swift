import CLibrary
package import SystemPackage

/// The name by which a call of the platform finds a file: a path, or a name in an open folder.
package protocol FilePlace {
    /// For messages.
    var shownPath: FilePath { get }

    /// - Parameter call: Gets the folder that the name is in, and the name.
    func named<Result>(_ call: (CInt, UnsafePointer<CInterop.PlatformChar>) -> Result) -> Result
}

extension FilePath: FilePlace {
    package var shownPath: FilePath { self }

    package func named<Result>(_ call: (CInt, UnsafePointer<CInterop.PlatformChar>) -> Result) -> Result {
        withPlatformString { call(AT_FDCWD, $0) }
    }
}
