/// Why the rows of a table cannot be left out of a copy.
public enum TableObstacle: Hashable, Sendable {
    /// It has no rows of its own.
    case isView
    /// Its rows are in tables that its module keeps.
    case isVirtual
    /// A virtual table's module keeps its rows in it.
    case isPartOfVirtual
    /// A virtual table holds its content too, or what follows from it, and cannot be made anew without it.
    case feedsVirtual
    /// Its name begins with `sqlite_`.
    case sqliteNeedsIt
    /// Core Data opens no store without it.
    case coreDataNeedsIt
    /// It is part of the persistent history, which is left out as a whole.
    case isHistory
}
