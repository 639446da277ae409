/// How much of a store is copied. The manifest says what was left out, so that it does not pass for lost.
public struct CopyProfile: Hashable, Sendable {
    /// Whether the rows of Core Data's persistent history are left out; a store without one stays as it is.
    public var leavesOutHistory = false
    /// Names of tables whose rows are left out, in any case; the tables themselves stay.
    public var emptiedTables: [String] = []
    /// External files longer than this, in bytes, are left out; `nil` for none.
    public var longestExternalFile: Int64?

    public init() {}

    /// Whether anything may be left out.
    var leavesOut: Bool { self != CopyProfile() }
}
