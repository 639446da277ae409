import ArgumentParser
import ShipStore
import SystemPackage

/// How the content of a live store is replaced.
struct RestoreArguments: ParsableArguments {
    @Flag(
        help: "Take a copy of another store, or one of which that cannot be told: it has no identity and other tables.")
    var anyIdentity = false

    @Flag(help: "Take a copy that came without something (--strip-history, --exclude): the store loses it too.")
    var incomplete = false

    @Flag(help: "Take a copy of a damaged store, which was kept as evidence: the store is damaged then, too.")
    var damaged = false

    @Flag(help: "Keep no copy of the store as it was.")
    var noSafetyCopy = false

    @Option("Keep the store as it was in this folder, instead of .NAME-safety beside it.", .folder)
    var safetyCopies: FilePath?

    @OptionGroup(title: "Check options") var check: CheckArguments

    func validate() throws {
        if noSafetyCopy, safetyCopies != nil {
            throw ValidationError("--safety-copies and --no-safety-copy contradict each other")
        }
    }

    /// Whether anything is said.
    var isGiven: Bool { anyIdentity || incomplete || damaged || noSafetyCopy || safetyCopies != nil }

    func options(_ busyTimeout: Duration) -> RestoreOptions {
        var options = RestoreOptions()
        options.busyTimeout = busyTimeout
        options.takesOtherIdentity = anyIdentity
        options.takesIncompleteCopy = incomplete
        options.takesDamagedCopy = damaged
        options.checking = check.options
        if noSafetyCopy { options.safetyCopy = .none }
        if let safetyCopies { options.safetyCopy = .kept(KeptCopies(in: safetyCopies)) }
        return options
    }
}
