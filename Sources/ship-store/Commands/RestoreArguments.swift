import ArgumentParser
import ShipStore
import SystemPackage

/// How the content of a live store is replaced.
struct RestoreArguments: ParsableArguments {
    @Flag(help: "Take a copy of another store, or one whose identity is not known.")
    var anyIdentity = false

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
        for missing in restoration.manifest.missingExternalFiles {
            warn("the copy came without \(missing.relativePath)")
        }
        if !restoration.remainingFiles.isEmpty {
            let count = restoration.remainingFiles.count
            say(
                "\(count) external file\(count == 1 ? "" : "s") of the old state stay: somebody still reads it, "
                    + "or another store of that stem may refer to them")
        }
    }
}
