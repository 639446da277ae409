/// What a copy is for, and so what is made of it.
package enum CopyForm: Hashable, Sendable {
    /// To be shipped or kept: in canonical form, and with the digest of each table.
    case canonical
    /// To stay here for a while: as `VACUUM INTO` left it, and nothing said of its tables. It takes less time.
    case vacuumed
}
