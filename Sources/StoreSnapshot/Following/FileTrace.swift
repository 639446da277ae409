import StoreFiles

/// Which file it is, and when its content changed last, as fstat(2) tells.
struct FileTrace: Hashable {
    private let identity: FileStatus.Identity
    private let size: Int64
    private let modified: Duration

    init(_ status: FileStatus) { (identity, size, modified) = (status.identity, status.size, status.modified) }
}
