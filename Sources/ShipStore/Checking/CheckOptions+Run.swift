import StoreServing
import SystemPackage

extension CheckOptions {
    /// Checks a store whose digest is right: first what parses nothing, here, then what SQLite finds, where that is to be.
    ///
    /// - Throws: `StoreCheck.Flaw`, `CancellationError`.
    func check(_ path: FilePath, against claims: StoreClaims) async throws -> CheckReport {
        let check = StoreCheck(limits: limits)
        try check.checkHeader(of: path, against: claims)
        switch place {
        case .thisProcess: return try check.checkContent(of: path, against: claims, .amongOthers)
        case .childProcess(let program):
            return try await CheckerChild(program: program, limits: limits).run(on: path, against: claims)
        }
    }
}
