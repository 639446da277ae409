/// The two ways in which a store goes over the link.
///
/// Source: `Protocol/README.md` sections 3.3 and 3.4.
public enum StoreForm: Hashable, Sendable {
    /// Its pages as they are, in blocks.
    case plain
    /// Its rows, column by column; the consumer makes the pages, and the indexes that follow from the rows.
    case columns
}
