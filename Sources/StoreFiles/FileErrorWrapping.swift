/// An error of a stage, which may be that of a call of the platform.
package protocol FileErrorWrapping: Error {
    static func file(_ error: FileError) -> Self

    init(ofFile error: FileError)
}

extension FileErrorWrapping {
    package init(ofFile error: FileError) { self = .file(error) }

    /// Calls of the platform, their errors as those of the stage.
    package static func wrapping<Value: ~Copyable>(_ calls: () throws(FileError) -> Value) throws(Self) -> Value {
        do throws(FileError) {
            return try calls()
        } catch {
            throw Self(ofFile: error)
        }
    }
}
