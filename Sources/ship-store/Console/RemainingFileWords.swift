import ShipStore
import SystemPackage

/// A file that stays in the support folder of a store that goes, or that gets another content.
struct RemainingFileLine: Encodable {
    let path: String
    /// `used`, `unexplained`, `unreadable` or `read`.
    let reason: String
    /// The store that refers to it, or whose rows cannot be read.
    let store: String?

    init(_ file: RemainingFile) {
        path = file.path.string
        switch file.reason {
        case .usedBy(let store): (reason, self.store) = ("used", store.string)
        case .unexplained: (reason, store) = ("unexplained", nil)
        case .unreadable(let store): (reason, self.store) = ("unreadable", store.string)
        case .stillRead: (reason, store) = ("read", nil)
        }
    }
}

extension Console {
    /// What stays, and why: one line for each reason.
    func say(_ remaining: [RemainingFile]) {
        var counts: [RemainingFile.Reason: (count: Int, first: FilePath)] = [:]
        for file in remaining {
            counts[file.reason] = ((counts[file.reason]?.count ?? 0) + 1, counts[file.reason]?.first ?? file.path)
        }
        for (reason, found) in counts.sorted(by: { $0.value.first.string < $1.value.first.string }) {
            let files = found.count == 1 ? "\(found.first) stays" : "\(found.first) and \(found.count - 1) more stay"
            switch reason {
            case .usedBy(let store): say("\(files): \(store) refers to \(found.count == 1 ? "it" : "them")")
            case .unexplained: warn("\(files): no store refers to \(found.count == 1 ? "it" : "them")")
            case .unreadable(let store):
                warn("\(files): \(store) may refer to \(found.count == 1 ? "it" : "them"), and its rows cannot be read")
            case .stillRead:
                say(
                    "\(files): somebody still reads the store as it was; the next restore removes "
                        + "\(found.count == 1 ? "it" : "them")")
            }
        }
    }

    /// Links that led to a store, and go with it.
    func say(goneWithItsStore links: [FilePath]) {
        for link in links { say("the symbolic link \(link) is gone too") }
    }
}
