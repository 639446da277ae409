import StoreFiles
import StoreInbox
import SystemPackage

extension InboxError {
    var explanation: Explanation {
        switch self {
        case .inboxInUse(let path, let process):
            Explanation(
                "\(path) is in use by another receiver" + (process.map { " (process \($0))" } ?? ""),
                hint: "stop that one, or receive into another folder")
        case .occupied(let path):
            Explanation(
                "\(path) is in the way: something other than the inbox put it there",
                hint: "move it away, or ship under another name with --name")
        case .noSpace(let needed, let free):
            Explanation(
                "the disk of the inbox has \(free) bytes free, and the shipment needs \(needed)",
                hint: "free some space, then send again")
        case .mismatch(let path):
            Explanation(
                "\(path.lastComponent?.string ?? "a file") is not what its digest says", hint: "send it again")
        case .badManifest(let path, let flaw): Explanation("\(path) cannot be read: \(flaw)")
        case .noInbox(let path):
            Explanation("\(path) is no inbox", hint: "receive into it first: ship-store receive --into \(path)")
        case .noSuchStore(let name):
            Explanation("there is no store \(name) in the inbox", hint: "see `ship-store list`")
        case .file(let error):
            Explanation(
                "\(error)", hint: error.isOutOfSpace ? "free some space, then send again" : nil)
        }
    }
}
