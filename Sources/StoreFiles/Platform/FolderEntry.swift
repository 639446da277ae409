import SystemPackage

/// A name in an open folder.
struct FolderEntry {
    let folder: FileDescriptor
    /// With the NUL at its end.
    let name: [CInterop.PlatformChar]
    /// For messages.
    let path: FilePath
}
