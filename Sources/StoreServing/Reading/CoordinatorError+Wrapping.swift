import StoreFiles

extension CoordinatorError {
    /// Calls of the platform, their errors as ours.
    static func wrapping<Result: ~Copyable>(
        _ body: () throws(FileError) -> Result
    ) throws(CoordinatorError) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            throw .file(error)
        }
    }
}
