import SystemPackage

/// A name in an open folder.
struct FolderEntry {
    let folder: FileDescriptor
    /// With the NUL at its end.
    let name: [CInterop.PlatformChar]
    /// For messages.
    let path: FilePath
}

extension FolderEntry: FilePlace {
    var shownPath: FilePath { path }

    func named<Result>(_ call: (CInt, UnsafePointer<CInterop.PlatformChar>) -> Result) -> Result {
        call(folder.rawValue, name)
    }
}
