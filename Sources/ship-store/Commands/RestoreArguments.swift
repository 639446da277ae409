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

    @Flag(help: "Keep no copy of the store as it was.")
    var noSafetyCopy = false

    @Option(
        help: ArgumentHelp(
            "Keep the store as it was in this folder, instead of .NAME-safety beside it.", valueName: "folder"))
    var safetyCopies: String?

    @OptionGroup(title: "Check options") var check: CheckArguments

    func validate() throws {
        if noSafetyCopy, safetyCopies != nil {
            throw ValidationError("--safety-copies and --no-safety-copy contradict each other")
        }
    }

    func options(_ busyTimeout: Seconds) -> RestoreOptions {
        var options = RestoreOptions()
        options.busyTimeout = busyTimeout.duration
        options.identity = anyIdentity ? .any : .same
        options.incompleteCopy = incomplete ? .taken : .refused
        options.checking = check.options
        if noSafetyCopy { options.safetyCopy = .none }
        if let safetyCopies { options.safetyCopy = .kept(KeptCopies(in: FilePath(safetyCopies))) }
        return options
    }
}

extension Console {
    /// What a restore leaves that the user may want to know of.
    func say(_ restoration: Restoration) {
        if let copy = restoration.safetyCopy {
            say("the store as it was is kept as \(copy.path)")
            say(
                "it stays until `ship-store copies --in \(copy.path.removingLastComponent()) --prune --tag \(CopyTag.beforeRestore)`"
            )
        }
        if let damage = restoration.damage { say(damage) }
        OmissionWords(restoration.manifest).lines.forEach(say)
        for missing in restoration.manifest.missingExternalFiles {
            warn("the copy came without \(missing.relativePath)")
        }
        say(restoration.remainingFiles)
    }

    private func say(_ damage: Restoration.Damage) {
        guard let words = damage.words else {
            say("there was no store")
            if let folder = damage.keptAs { say("what was beside it is kept in \(folder)") }
            return
        }
        warn("\(words)")
        if let folder = damage.keptAs {
            say("the damaged store is kept in \(folder); who has it open still has that one")
        }
    }
}
