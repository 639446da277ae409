public import ShipProtocol
public import StoreBases

/// The copies that this device remembers, as their receivers have acknowledged them: `bases`.
public struct RememberedCopies: Sendable {
    public let memory: BaseMemory

    public init(in memory: BaseMemory) { self.memory = memory }

    /// Which of them.
    public enum Selection: Hashable, Sendable {
        case all
        /// Those that went under these names.
        case named([StoreName])
    }

    /// What was used last first.
    ///
    /// - Throws: `.memory`; `.notRemembered` for a name under which nothing is.
    public func list(_ selection: Selection = .all) throws(ShipmentError) -> [BaseRecord] {
        let records: [BaseRecord]
        do throws(BaseMemoryError) {
            records = try memory.records()
        } catch {
            throw ShipmentError(error)
        }
        switch selection {
        case .all: return records
        case .named(let names):
            for name in names where !records.contains(where: { $0.key.name == name }) { throw .notRemembered(name) }
            return records.filter { names.contains($0.key.name) }
        }
    }

    /// Forgets them, and removes their files.
    ///
    /// - Returns: Those that are gone.
    /// - Throws: As `list`, and then nothing is gone; `.memory(.busy)`.
    public func remove(_ selection: Selection) async throws(ShipmentError) -> [BaseRecord] {
        try await OperationRun.run(waiting: .zero) { [self] _ in
            switch selection {
            case .all: return try memory.forget(.all)
            case .named(let names):
                _ = try list(selection)
                return try names.flatMap { try memory.forget(.name($0)) }
            }
        }
    }
}
