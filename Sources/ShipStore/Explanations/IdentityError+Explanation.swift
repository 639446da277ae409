import DeviceTrust
import SystemPackage

extension IdentityError {
    var explanation: Explanation {
        switch self {
        case .exposed(let path, _):
            Explanation(
                "other users may have read or changed \(path)",
                hint: "if nobody did, `chmod go= \(path)`; otherwise remove it, and trust each other anew")
        case .otherOwner(let path, let user):
            Explanation("\(path) belongs to user \(user)", hint: "use a folder of your own with --identity")
        case .notPlain(let path):
            Explanation(
                "\(path) is a link, or not what should be there", hint: "use another folder with --identity")
        case .damaged(let path, let flaw):
            Explanation("\(path) cannot be used: \(flaw)", hint: "restore it, or remove it and trust each other anew")
        case .busy(let path): Explanation("another program is changing \(path)", hint: "try again")
        case .notMade: Explanation("a certificate cannot be made")
        case .file(let error): error.explanation
        }
    }
}

extension SignatureError {
    var explanation: Explanation {
        switch self {
        case .badCertificate:
            Explanation("the shipment is signed with what is no certificate", hint: "have it made and signed anew")
        case .otherKey:
            Explanation(
                "the shipment is signed with a key of another kind than P-256", hint: "have it made and signed anew")
        case .wrong:
            Explanation(
                "the signature is not that of this shipment: somebody has changed it, or it was damaged",
                hint: "have it made and signed anew, and brought here by another way")
        case .otherDevice:
            Explanation("the shipment is signed by another device than the one that sends it")
        }
    }
}

extension PairingError {
    var explanation: Explanation {
        switch self {
        case .wrongCode:
            Explanation(
                "the two sides do not have the same code, or somebody stands in between",
                hint: "compare the codes; after five tries start `receive --pair` anew there")
        case .notOpen:
            Explanation(
                "the other side waits for no code, or for no more",
                hint: "start `ship-store receive --pair` there first")
        case .badMessage: Explanation("the other side does not pair as this one does", hint: "update the older one")
        case .over:
            Explanation("nobody paired in time, or the code was tried too often", hint: "start anew, with a new code")
        }
    }
}

extension TrustListError {
    var explanation: Explanation {
        switch self {
        case .nameIsTaken(let name, let id):
            Explanation("\(name) is the name of \(id)", hint: "choose another name with --name")
        case .isThisDevice:
            Explanation(
                "that is the id of this device itself", hint: "take that of the other one: `ship-store identity` there")
        case .removedFromAll(let names):
            Explanation(
                "the device may send or receive every store, so that "
                    + "\(names.sorted().map(\.text).joined(separator: ", ")) cannot be taken from it",
                hint: "name those that it keeps with --only-store")
        case .tooMany: Explanation("so many devices cannot be trusted", hint: "`ship-store distrust` some")
        }
    }
}
