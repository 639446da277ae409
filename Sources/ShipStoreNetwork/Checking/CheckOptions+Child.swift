public import ShipStore
import StoreServing
public import SystemPackage

extension CheckOptions.Place {
    /// In a process of its own, which has nothing, may do nothing, and is killed when its time is over.
    ///
    /// - Parameter program: It is started with `CheckerProcess.command` as its only argument, and must then do nothing but call
    ///   `CheckerProcess.run()`.
    public static func childProcess(program: FilePath) -> Self { Self(CheckerChildren(program: program)) }
}

private struct CheckerChildren: CheckerStarter {
    let program: FilePath

    func start(_ limits: CheckLimits, in folder: FilePath) -> any StartedChecker {
        CheckerChild(program, limits, in: folder)
    }
}
