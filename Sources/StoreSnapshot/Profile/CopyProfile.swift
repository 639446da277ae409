/// How much of a store is copied. What is left out on the user's word stands in the manifest, so that nobody takes it for
/// lost.
public struct CopyProfile: Hashable, Sendable {
    public enum History: Hashable, Sendable {
        case kept
        /// The rows of Core Data's persistent history are left out; a store without one stays as it is.
        case leftOut
    }

    public var history = History.kept
    /// Names of tables whose rows are left out, in whatever case; the tables themselves stay.
    public var emptiedTables: [String] = []
    /// External files longer than this, in bytes, are left out; `nil` for none.
    public var longestExternalFile: Int64?

    public init() {}

    /// Whether anything may be left out.
    var leavesOut: Bool { self != CopyProfile() }
}
