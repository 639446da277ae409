import ShipProtocol
import StoreServing
import SystemPackage

extension CoordinatorError {
    public var explanation: Explanation {
        switch self {
        case .noSuchStore(let name):
            Explanation("there is no store \(name)", hint: "see `ship-store list`")
        case .noSuchIndex(let index, let count):
            Explanation("there is no store at index \(index): there are \(count)", hint: "see `ship-store list`")
        case .notOneStore(0): Explanation("there is no store yet", hint: "receive one first")
        case .notOneStore(let count):
            Explanation("there are \(count) stores, and none was named", hint: "name one; see `ship-store list`")
        case .sameName(let name):
            Explanation("two files would be the store \(name)", hint: "give one of them another name")
        case .notSettled(let path, .writeAheadLogMode):
            Explanation("\(path) is in WAL mode: an app may be writing to it", hint: "open it as a live store")
        case .notSettled(let path, .sidecar(let sidecar)):
            Explanation(
                "part of \(path) may be in \(sidecar.lastComponent?.string ?? "a file beside it")",
                hint: "open it as a live store, or open a compact copy of it")
        case .notAFile(let path): Explanation("\(path) is not a regular file")
        case .hasNoGenerations(let name):
            Explanation("\(name) is a file of its own, and cannot be pinned", hint: "take a copy of it instead")
        case .hasNoFile(let name):
            Explanation(
                "the store \(name) is in an inbox, where it is not written to",
                hint: "roll it back, or ship it anew; restore the store that it was shipped from")
        case .generationLocked(let name):
            Explanation("the current generation of \(name) is locked by another program", hint: "try again")
        case .released: Explanation("the pin was given back before")
        case .suspended:
            Explanation("reading is suspended with the app", hint: "resume the coordinator, then read again")
        case .generationGone(let name, let number):
            Explanation(
                "generation \(number) of \(name) was removed while reading was suspended",
                hint: "pin the generation that is current now")
        case .noExternalFile(let name, .unknown):
            Explanation("the store has no external file \(name.relativePath)")
        case .noExternalFile(let name, .leftOut(let size)):
            Explanation("the external file \(name.relativePath), of \(size) bytes, was left out of the shipment")
        case .noExternalFile(let name, .missingAtProducer):
            Explanation("the external file \(name.relativePath) was missing already where the store comes from")
        case .inbox(let error): error.explanation
        case .file(let error): error.explanation
        }
    }
}
