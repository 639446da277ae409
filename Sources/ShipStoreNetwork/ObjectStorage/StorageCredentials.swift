/// The keys by which S3-compatible storage knows who asks.
struct StorageCredentials: Hashable, Sendable {
    let key: String
    let secret: String
    /// Of a session that ends by itself.
    let token: String?
}
