import ShipProtocol

extension PublicationError {
    var cause: PrintableText {
        switch self {
        case .nothingThere(let place): "nothing is published at \(place)"
        case .badHead(let place, .versionNotSupported): "what is published at \(place) is of a newer version"
        case .badHead(let place, .badMessage(_, let flaw)): "the head at \(place) is damaged: \(flaw)"
        case .badHead(let place, let error): "the head at \(place) is damaged: \(error.cause)"
        case .badSignature(let place, let error): "the head at \(place): \(error.cause)"
        case .badObject(let place, let digest):
            "an object at \(place) is damaged, or is not the one that was published: \(digest)"
        case .badStep(let place, let name): "a shipment of \(name) at \(place) is another one than its publisher says"
        case .objectGone(let place, let digest): "an object is missing at \(place): \(digest)"
        case .otherPublisher(let place, let id): "another device publishes at \(place) (its id is \(id))"
        case .handedOver(let place, let id): "this device has handed \(place) over to another one (its id is \(id))"
        case .notPublished(let place, let name, _): "\(name) is not published at \(place)"
        case .otherPublication(let place): "another publication is at \(place) than before, of the same device"
        case .wentBack(let place, let from, let to):
            "what is published at \(place) is older than it was: number \(to) after \(from)"
        case .expired(let place, let time): "what is published at \(place) has expired at \(time)"
        case .noWay(let place, let name): "\(place) has no shipment by which \(name) can be reached from what is here"
        case .notARecipient(let place): "what is published at \(place) is encrypted, and not for this device"
        case .encrypted(let place): "what is published at \(place) is encrypted, and nobody is named to encrypt it for"
        case .otherRecipients(let place, let names):
            """
            what is published at \(place) is to be encrypted for others than it is, and these are published there too: \
            \(names.map(\.text).joined(separator: ", "))
            """
        case .incomplete(let place, let names):
            """
            all that is published at \(place) goes anew, and these are missing: \
            \(names.map(\.text).joined(separator: ", "))
            """
        case .contended(let place): "other programs go on publishing at \(place)"
        case .notAnInbox(let place): "a publication is at \(place): no inbox can be there"
        case .tooMany(let place): "there is no room for more in the publication at \(place)"
        case .cannotPublish(let place): "one cannot publish at \(place)"
        case .ignoresConditions(let place):
            "the storage of \(place) ignores conditions: two publishers would replace each other's heads"
        case .noCredentials: "no keys of the storage are known"
        case .badStorage(let text): "the storage's server or region cannot be \(text)"
        case .storage(let place, let status, let code): "the storage of \(place) answers \(code) (status \(status))"
        case .status(let place, let status): "\(place) answers with status \(status)"
        case .badAnswer(let place): "what \(place) answers is no answer of a web server"
        }
    }

    var failureRule: FailureRule {
        switch self {
        case .nothingThere, .notPublished: .here(.noInput)
        case .badHead(_, .versionNotSupported): .here(.protocolBroken)
        case .badHead, .badObject, .badStep, .noWay: .here(.badData)
        case .notARecipient, .badSignature, .otherPublisher, .handedOver, .otherPublication, .wentBack:
            .here(.notPermitted)
        case .expired: .here(.tooOld)
        case .objectGone, .contended, .incomplete: .here(.tryAgain)
        case .tooMany: .here(.cannotInstall)
        case .cannotPublish, .notAnInbox, .badStorage, .encrypted, .otherRecipients: .here(.usage)
        case .ignoresConditions: .here(.cannotInstall)
        case .noCredentials: .here(.notPermitted)
        case .status(_, 408), .status(_, 429), .status(_, 500...), .storage(_, 408, _), .storage(_, 429, _),
            .storage(_, 500..., _):
            .here(.tryAgain)
        case .status(_, 401), .status(_, 403), .storage(_, 401, _), .storage(_, 403, _): .here(.notPermitted)
        case .status, .storage: .here(.unavailable)
        case .badAnswer: .here(.protocolBroken)
        }
    }
}
