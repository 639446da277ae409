/// The statements of a schema.
package enum SchemaStatements {
    /// SQL that lets all begin as VACUUM expects it: over those of tables and indexes that begin in other letters it passes without a word
    /// [vacuum.c, execSql].
    package static let preparationForVacuum = """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CRE' || substr(sql, 4)
        WHERE type IN ('table', 'index') AND sql NOT GLOB 'CRE*'
        """
}
