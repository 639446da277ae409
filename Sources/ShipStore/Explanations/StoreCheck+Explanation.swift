import StoreServing

extension StoreCheck.Flaw {
    var explanation: Explanation {
        switch self {
        case .header:
            Explanation(
                "the header of the store is not that of a compact copy",
                hint: "nothing was installed; send it with `ship-store send`, which makes such a copy")
        case .unsound(let complaint):
            Explanation(
                "the store is not sound: \(complaint)",
                hint: "look into the sender's store with `ship-store verify STORE` there")
        case .contradictsManifest(let member):
            Explanation(
                "the store is not as its manifest says: \(member)",
                hint: "nothing was installed; whoever sent it says what is not so, or has an older program: update it")
        case .tookTooLong(let limit):
            Explanation(
                "checking the store took longer than \(limit / .seconds(1)) s",
                hint: "if its sender is to be trusted with that much time, give more with --check-seconds")
        case .tookTooMuchMemory(let limit):
            Explanation(
                "checking the store took more memory than \(limit / 1_048_576) MiB",
                hint: "if its sender is to be trusted with that much memory, give more with --check-memory")
        case .unreadable(let code, let message):
            Explanation(
                "SQLite cannot read the store: \(message) (code \(code))",
                hint: "look into the sender's store with `ship-store verify STORE` there")
        case .checkerFailed(let failure): failure.explanation
        case .file(let error): error.explanation
        }
    }
}

extension StoreCheck.CheckerFailure {
    fileprivate var explanation: Explanation {
        switch self {
        case .notStarted(let errno):
            Explanation(
                "the process that checks stores could not be started (errno \(errno))",
                hint: "see whether this program may be run, and whether there is memory left, then send again")
        case .signalled(let signal):
            Explanation(
                "the process that checked the store was ended by signal \(signal)",
                hint: "the store may be made to break its reader: do not open it, and find out who made it")
        case .exited(let status):
            Explanation(
                "the process that checked the store ended without a verdict, with status \(status)",
                hint: "the store may be made to break its reader: do not open it, and find out who made it")
        case .saidNonsense:
            Explanation(
                "the process that checked the store said what is no verdict",
                hint: "the store may be made to break its reader: do not open it, and find out who made it")
        }
    }
}
