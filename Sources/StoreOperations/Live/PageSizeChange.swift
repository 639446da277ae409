import GRDB
import StoreFiles
package import SystemPackage

/// A compact copy with pages of another size: SQLite's backup API cannot change the page size of a store in WAL mode.
package enum PageSizeChange {
    /// - Parameters:
    ///   - copy: In rollback mode; it stays as it is.
    ///   - target: Where the other one is made.
    ///   - pageSize: In bytes.
    package static func make(
        of copy: FilePath, at target: FilePath, pageSize: Int, _ patience: Patience
    ) throws(OperationError) {
        try OperationError.wrapping { () throws(FileError) in try DurableCopy.make(of: copy, at: target) }
        // VACUUM gives the pages the new size [sqlite.org/pragma.html#pragma_page_size].
        try LiveConnection(to: target, .shared, patience).run { database in
            try database.execute(sql: "PRAGMA synchronous = OFF; PRAGMA page_size = \(pageSize); VACUUM")
        }
    }
}
