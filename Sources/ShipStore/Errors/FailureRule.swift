package import ShipProtocol

/// The consequences of a failure.
package struct FailureRule: Hashable, Sendable {
    package let exitStatus: ExitStatus
    /// The code of a consumer's refusal; `nil` where there is no other side to tell.
    package let refusal: RefusalCode?
    /// Whether a consumer that refuses a shipment for this may take the next one of the same session.
    ///
    /// Source: `Protocol/README.md` section 5.4.
    package let endsShipmentAlone: Bool
    /// The code with which a producer gives up; `nil` where there is no other side to tell.
    package let cancellation: RefusalCode?
    /// Whether the words of the error may go to the other side. Words that name paths of the store, or of what a device keeps for
    /// itself, stay here; a refusal may name the inbox.
    package let isTold: Bool
}

/// The kinds of rules. A rule says what sets it apart from others of its kind.
extension FailureRule {
    /// The trouble is on this device, and has nothing to do with what the other side sent.
    static func here(_ status: ExitStatus, isTold: Bool = true) -> Self {
        Self(
            exitStatus: status, refusal: .cannotInstall, endsShipmentAlone: false, cancellation: .stopped,
            isTold: isTold)
    }

    /// The other side cannot be told, or knows already.
    static func untold(_ status: ExitStatus) -> Self {
        Self(exitStatus: status, refusal: nil, endsShipmentAlone: false, cancellation: nil, isTold: false)
    }

    static func onLink(
        _ status: ExitStatus, _ refusal: RefusalCode, alone: Bool = false, cancellation: RefusalCode?
    ) -> Self {
        Self(exitStatus: status, refusal: refusal, endsShipmentAlone: alone, cancellation: cancellation, isTold: true)
    }

    static func inFile(_ refusal: RefusalCode, alone: Bool = false) -> Self {
        Self(exitStatus: .badData, refusal: refusal, endsShipmentAlone: alone, cancellation: nil, isTold: true)
    }

    /// One shipment cannot be installed; the session goes on.
    static func ofShipment(_ status: ExitStatus, _ refusal: RefusalCode, isTold: Bool = true) -> Self {
        Self(exitStatus: status, refusal: refusal, endsShipmentAlone: true, cancellation: .stopped, isTold: isTold)
    }

    /// The rule for a shipment that the other side has ended: the statuses of `Protocol/README.md` section 7.
    static func ended(for code: RefusalCode?) -> Self {
        switch code {
        case .versionNotSupported, .unknownFrame, .protocolViolation, .featureNotSupported: .untold(.protocolBroken)
        case .damaged, .badManifest, .badStore, .wrongModel, .wrongSchema, .probeFailed: .untold(.badData)
        case .noSpace, .tooLarge, .cannotInstall, .held, .rolledBack, .otherStore: .untold(.cannotInstall)
        case .missingBase: .untold(.missingBase)
        case .busy, .timedOut, .stopped: .untold(.tryAgain)
        case .notTrusted, .badSignature, .replayed: .untold(.notPermitted)
        case nil: .untold(.unavailable)
        }
    }
}

/// Rules of errors of several stages.
extension FailureRule {
    static let notFound = here(.noInput, isTold: false)
    static let unusable = here(.badData, isTold: false)
    static let newerFormat = here(.misconfigured, isTold: false)
    static let badRequest = here(.usage, isTold: false)
    static let noPermission = here(.notPermitted, isTold: false)
    static let inUse = here(.tryAgain, isTold: false)
    static let noPlace = here(.cannotInstall, isTold: false)
    static let inputOutput = here(.inputOutput, isTold: false)
    static let linkNotPermitted = untold(.notPermitted)
    static let linkStopped = untold(.tryAgain)
    static let linkFailed = untold(.inputOutput)
    static let noPlaceForLink = untold(.cannotInstall)
    static let timedOut = onLink(.tryAgain, .timedOut, cancellation: .timedOut)
    static let noShipmentInFile = inFile(.protocolViolation)
    static let badStore = ofShipment(.badData, .badStore)
    static let notAllowed = onLink(.notPermitted, .notTrusted, alone: true, cancellation: .notTrusted)
    static let inboxDamaged = ofShipment(.badData, .cannotInstall, isTold: false)
    static let outOfResources = ofShipment(.tryAgain, .busy, isTold: false)
    static let inTheWay = ofShipment(.cannotInstall, .cannotInstall)
    static let cannotInstall = ofShipment(.cannotInstall, .cannotInstall, isTold: false)
    static let notServed = ofShipment(.noInput, .cannotInstall, isTold: false)
}
