import StoreBases
import SystemPackage

extension BaseMemoryError {
    var explanation: Explanation {
        switch self {
        case .exposed(let path, _):
            Explanation(
                "other users may have read or changed what is remembered in \(path)",
                hint: "`rm -r \(path)`: what is not remembered costs nothing but bytes")
        case .otherOwner(let path, let user):
            Explanation(
                "what is remembered in \(path) belongs to user \(user)",
                hint: "set XDG_STATE_HOME to a folder of your own"
            )
        case .notPlain(let path):
            Explanation(
                "\(path) is a link, or not what should be there",
                hint: "remove the folder `bases` that it is, or is in: what is not remembered costs nothing but bytes")
        case .damaged(let path, let flaw):
            Explanation(
                "the record of what is remembered, \(path), cannot be used: \(flaw)",
                hint: "`rm -r \(path.removingLastComponent())`: what is not remembered costs nothing but bytes")
        case .stillThere(let path):
            Explanation(
                "\(path), which is remembered no more, is there still: another program reads it, or it cannot be removed",
                hint: "try again once no `send` is at work; if it stays, look at the permissions of its folder")
        case .busy(let path):
            Explanation("another program is changing what is remembered in \(path)", hint: "try again")
        case .stopped: Explanation("stopped before it was done", hint: "start again")
        case .file(let error): error.explanation
        }
    }
}
