import ShipProtocol
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
                "\(path.lastComponent?.string ?? "a file") is not what its digest says",
                hint: Self.wayOut(ofDamageTo: path))
        case .badManifest(let path, let flaw): Explanation("\(path) cannot be read: \(flaw)")
        case .noInbox(let path):
            Explanation("\(path) is no inbox", hint: "receive into it first: ship-store receive --into \(path)")
        case .ofOtherUser(let path, let user):
            Explanation(
                "\(path) belongs to another user (\(user)), who could change what is in it",
                hint: "receive as that user, or into a folder of your own")
        case .openToOthers(let path):
            Explanation(
                "others than its owner may change what is in \(path)", hint: "close it with `chmod go-w \(path)`")
        case .noSuchStore(let name):
            Explanation("there is no store \(name) in the inbox", hint: "see `ship-store list`")
        case .noSuchGeneration(let name, let number):
            Explanation(
                "there is no generation \(number) of \(name)", hint: "see `ship-store list` for those that are kept")
        case .noOlderGeneration(let name):
            Explanation(
                "there is no generation of \(name) to go back to",
                hint: "see `ship-store list`; one that was rolled back itself is named with --to")
        case .storeBusy(let name, let waited):
            Explanation("somebody else has been changing \(name) for \(waited)", hint: "try again")
        case .held(let name, let numbers):
            Explanation(
                "a reader holds \(name), generation\(numbers.count == 1 ? "" : "s") "
                    + "\(numbers.map(String.init).joined(separator: ", "))",
                hint: "nothing has changed; let the reader go of it, then try again")
        case .otherStore(let name, let flaw):
            Explanation(
                "another store is there under the name \(name): \(flaw.words)",
                hint: "ship this one under a name of its own with `ship-store send --name`, or let it take the place "
                    + "of the other with `ship-store receive --replace \(name)`")
        case .rolledBack(let name, let number):
            Explanation(
                "the receiver's operator went back from this very store, its generation \(number) of \(name)",
                hint:
                    "allow it again with `ship-store rollback \(name) --into INBOX --allow-again`, or go forward with --to"
            )
        case .badRecord(let path, let flaw):
            Explanation(
                "\(path) cannot be read: \(flaw)",
                hint: "start it anew with `ship-store rollback NAME --into INBOX --allow-again`")
        case .badOrigin(let path):
            Explanation(
                "\(path) cannot be read: it does not say which device the store is from",
                hint: "restore it; without it old shipments of the store are taken as new ones")
        case .outOfSequence(let name, let flaw): flaw.explanation(name)
        case .file(let error): error.explanation
        }
    }

    /// What is installed can be left for an older generation as well; what is not on its way in has to come again.
    private static func wayOut(ofDamageTo path: FilePath) -> PrintableText {
        let names = path.components.map(\.string)
        guard let generations = names.lastIndex(of: "generations"), generations > 1,
            names[generations - 2] == ".ship-store"
        else { return "send it again" }
        let root = FilePath(root: path.root, path.components.prefix(generations - 2))
        return "send it again, or go to another generation with "
            + "`ship-store rollback \(names[generations - 1]) --into \(root.isEmpty ? "." : root) --to N`"
    }
}

extension SequenceFlaw {
    fileprivate func explanation(_ name: StoreName) -> Explanation {
        switch self {
        case .replayed(let counter, let highest):
            Explanation(
                "this shipment of \(name) is an old one: its number is \(counter), and \(highest) has been here",
                hint: "have it sent anew; if its device has lost count, say `ship-store trust ID --takes-over \(name)`")
        case .tooFarAhead(let counter, let highest):
            Explanation(
                "the number of this shipment of \(name), \(counter), is too far above the highest so far, \(highest)",
                hint: "if its device is sound all the same, say `ship-store trust ID --takes-over \(name)`")
        case .noCounter:
            Explanation(
                "this shipment of \(name) has no number, as those before it have, so that it may be an old one",
                hint: "send it from the device that sent those; `receive --unsigned` takes it all the same")
        case .notCounted:
            Explanation(
                "this shipment of \(name) has no number, and a device numbers those that it makes",
                hint: "update the program that sends it, then send it again")
        case .noDevice:
            Explanation(
                "\(name) comes from a device that is known, and this shipment does not say which device it is from",
                hint:
                    "send it from that device over TCP, or signed, in a file; `receive --unsigned` takes it all the same"
            )
        case .otherDevice:
            Explanation(
                "\(name) has come from another device so far",
                hint: "if this one is to send it from now on, say `ship-store trust ID --takes-over \(name)`")
        }
    }
}

extension Succession.Flaw {
    fileprivate var words: PrintableText {
        switch self {
        case .otherIdentity: "its identity is not that of the shipment"
        case .noTableInCommon: "it has no table of the same name as any of the shipment"
        case .otherSchema: "its schema differs, and nothing says that it is the same store"
        case .isEmpty: "it has rows, and the shipment has none"
        }
    }
}
