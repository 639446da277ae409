import StoreServing

/// The request to a checker, as JSON on its standard input. The store is in the folder in which the checker runs.
struct CheckRequest: Codable {
    /// The name of the store's file.
    let file: String
    let claims: StoreClaims
    let limits: CheckLimits

    /// Longest, in bytes: the tables and external files of the longest manifest, with each character escaped.
    static let mostBytes = 16 * 1024 * 1024
}
