/// How to reach S3-compatible storage. What is `nil` is taken from the variables and files that the AWS command line reads.
public struct StorageOptions: Hashable, Sendable {
    /// The server; `nil` for AWS.
    public var endpoint: WebAddress?
    /// Whether to publish also where the storage does not honour conditions on writing: then nothing keeps two publishers from replacing each
    /// other's heads.
    public var isUnconditional = false
    /// How long caches in front of the storage may show a head.
    public var headCache = Duration.seconds(2)

    public init() {}
}
