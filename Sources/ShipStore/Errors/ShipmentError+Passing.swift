import ShipProtocol

extension ShipmentError {
    /// Whether it is over with the whole session, and not with one shipment.
    var breaksLink: Bool {
        switch self {
        case .link, .overdue, .protocolBroken: true
        case .refused(let reason), .givenUp(let reason): reason.scope == .session
        default: false
        }
    }

    /// Whether the same may succeed later, although nobody has done anything about it on this device.
    package var mayPass: Bool {
        switch self {
        case .refused(let reason), .givenUp(let reason): reason.knownCode?.mayPass ?? true
        case .protocolBroken(.truncated), .protocolBroken(.damaged): true
        case .protocolBroken: false
        case .publication(let error): error.mayPass
        default:
            switch failureRule.exitStatus {
            case .noInput, .unavailable, .cannotInstall, .inputOutput, .tryAgain, .missingBase, .protocolBroken: true
            default: false
            }
        }
    }

    /// Whether what has come of the shipment is right, so that the rest may come in another session.
    var leavesRestToCome: Bool {
        switch self {
        case .link, .overdue, .stopped: true
        case .protocolBroken(let error): error == .truncated
        case .givenUp(let reason):
            switch reason.knownCode {
            case .stopped, .timedOut: true
            default: false
            }
        default: false
        }
    }
}

extension PublicationError {
    /// Whether the place may show something else later: caches show what is old, portals what is none, and publishers mend what is damaged.
    fileprivate var mayPass: Bool {
        switch self {
        case .otherPublisher, .handedOver, .notPublished, .otherPublication, .cannotPublish, .notAnInbox, .badStorage,
            .ignoresConditions, .noCredentials, .encrypted, .otherRecipients, .tooMany,
            .badHead(_, .versionNotSupported):
            false
        // Too late, too early, too many, or another writer was first [RFC 9110 section 15.5, RFC 6585].
        case .storage(_, let status, _): !(400...499).contains(status) || [408, 409, 425, 429].contains(status)
        case .nothingThere, .badHead, .badSignature, .badObject, .badStep, .objectGone, .wentBack, .expired, .noWay,
            .notARecipient, .contended, .incomplete, .status, .badAnswer:
            true
        }
    }
}

extension RefusalCode {
    /// Whether a shipment that is refused for this may be taken later, although nobody has done anything about it on this device. What the
    /// operator there has rolled back may be allowed again, and a store that is followed will have another state.
    fileprivate var mayPass: Bool {
        switch self {
        case .damaged, .noSpace, .cannotInstall, .held, .rolledBack, .missingBase, .busy, .timedOut, .stopped:
            true
        case .versionNotSupported, .unknownFrame, .protocolViolation, .featureNotSupported, .badManifest, .badStore,
            .wrongModel, .wrongSchema, .probeFailed, .tooLarge, .otherStore, .notTrusted, .badSignature, .replayed:
            false
        }
    }
}
