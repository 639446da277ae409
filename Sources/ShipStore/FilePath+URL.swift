public import EssentialFoundation
public import SystemPackage

extension FilePath {
    /// The path of a file's URL, byte by byte. For a URL of the web, the path of a file that is not there: all of the URL.
    public init(_ url: URL) {
        let bytes =
            url.isFileURL ? url.withUnsafeFileSystemRepresentation { $0.map { FilePath(platformString: $0) } } : nil
        self = bytes ?? FilePath(url.absoluteString)
    }
}
