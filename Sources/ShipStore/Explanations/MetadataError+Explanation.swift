import StoreOperations

extension MetadataError {
    var explanation: Explanation {
        switch self {
        case .notAllowed(let flaw): Explanation("\(flaw)")
        case .busy(let path, let waited):
            Explanation(
                "another program is writing to \(path), and was so for \(waited)",
                hint: "try again later, or wait longer with --busy-timeout")
        case .readOnly(let path):
            Explanation("no permission to write to \(path)", hint: "run as a user who may write to it")
        case .unreadablePropertyList(let path):
            Explanation("the Core Data metadata of \(path) cannot be read", hint: "open the store once with its app")
        case .tableIsTaken(let table):
            Explanation("the store has a table \(table) that is not for its metadata", hint: "rename that table")
        case .cancelled: Explanation("stopped before it was done")
        case .sqlite(let code, let message):
            Explanation("SQLite cannot write the metadata: \(message) (code \(code))")
        }
    }
}
