package import ShipProtocol

/// What kind of failure an error is. `rule` says everything that follows from the kind.
///
/// `ShipmentError.failureCode` maps each error to its code.
package enum FailureCode: String, Hashable, Sendable, CaseIterable {
    // This device cannot do what it was asked for, with a store of its own, its memory, or its identity.
    case notFound, unusable, newerFormat, badRequest, noPermission, inUse, noPlace, inputOutput, noCertificate
    case unknownName, ambiguousName, badHoldings, incompleteShipment
    case metadataNotAllowed, metadataUnusable, metadataReadOnly, metadataBusy, metadataNotWritten
    case pairingOver, pairingBroken, pairingFailed
    // The link does not come about, or breaks.
    case unreachable, noSuchFile, wrongLink, linkNotPermitted, linkStopped, linkClosed, linkFailed, noPlaceForLink
    case unknownDevice, timedOut
    // What came over a link breaks the protocol.
    case streamTruncated, streamDamaged, badMessage, otherVersion, unknownFrame, protocolViolation, unknownFeature
    case unknownEncoding
    // What came from a file breaks the protocol.
    case fileDamaged, badMessageInFile, otherVersionInFile, unknownFrameInFile, noShipmentInFile
    case unknownFeatureInFile, unknownEncodingInFile
    // The consumer does not take the shipment.
    case cannotCode, badEncoding, badStore, unreadableStore, tooLarge, wrongModel, wrongSchema, probeFailed
    case missingBase, notAllowed, badSignature, replayed, notIntact, rolledBack, otherStore
    case inboxDamaged, notInInbox, inboxBusy, storeBusy, outOfResources, inTheWay, inboxUnsafe, inboxNotPermitted,
        diskFull, noSpace,
        cannotInstall
    // What is installed cannot be read.
    case notServed, readerMisused, notSettled, readingPaused, fileFailed, databaseFailed
    // The other side has said why it is over.
    case endedForProtocol, endedForData, endedForPlace, endedForBase, endedForNow, endedForTrust, endedForOther
    case noWayBack
    // Neither side is at fault, or the program itself is.
    case stopped, unforeseen
}

/// What follows from a failure.
package struct FailureRule: Hashable, Sendable {
    package let exitStatus: ExitStatus
    /// What a consumer refuses with; `nil` where there is no other side to tell.
    package let refusal: RefusalCode?
    /// Whether a consumer that refuses a shipment for this may take the next one of the same session.
    ///
    /// Source: `Protocol/README.md` section 5.4.
    package let endsShipmentAlone: Bool
    /// What a producer gives up with; `nil` where there is no other side to tell.
    package let cancellation: RefusalCode?
    /// Whether the words of the error may go to the other side. Words that name paths of the store, or of what a device keeps for
    /// itself, stay here; a refusal may name the inbox.
    package let isTold: Bool
}

extension FailureCode {
    /// The table: one row for each code.
    package var rule: FailureRule {
        switch self {
        case .notFound: .here(.noInput, isTold: false)
        case .unusable: .here(.badData, isTold: false)
        case .newerFormat: .here(.misconfigured, isTold: false)
        case .badRequest: .here(.usage, isTold: false)
        case .noPermission: .here(.notPermitted, isTold: false)
        case .inUse: .here(.tryAgain, isTold: false)
        case .noPlace: .here(.cannotInstall, isTold: false)
        case .inputOutput: .here(.inputOutput, isTold: false)
        case .noCertificate: .here(.unexpected, isTold: false)
        case .unknownName: .here(.noInput)
        case .ambiguousName: .here(.usage)
        case .badHoldings: .here(.badData)
        case .incompleteShipment: .here(.missingBase)
        case .metadataNotAllowed: .here(.usage)
        case .metadataUnusable: .here(.badData)
        case .metadataReadOnly: .here(.notPermitted)
        case .metadataBusy: .here(.tryAgain)
        case .metadataNotWritten: .here(.inputOutput)
        case .pairingOver: .here(.tryAgain)
        case .pairingBroken: .here(.protocolBroken)
        case .pairingFailed: .here(.notPermitted)

        case .unreachable: .untold(.unavailable)
        case .noSuchFile: .untold(.noInput)
        case .wrongLink: .untold(.usage)
        case .linkNotPermitted: .untold(.notPermitted)
        case .linkStopped: .untold(.tryAgain)
        case .linkClosed: .untold(.protocolBroken)
        case .linkFailed: .untold(.inputOutput)
        case .noPlaceForLink: .untold(.cannotInstall)
        case .unknownDevice: .onLink(.notPermitted, .notTrusted, cancellation: nil)
        case .timedOut: .onLink(.tryAgain, .timedOut, cancellation: .timedOut)

        case .streamTruncated: .onLink(.protocolBroken, .protocolViolation, cancellation: nil)
        case .streamDamaged: .onLink(.badData, .damaged, cancellation: .damaged)
        case .badMessage: .onLink(.badData, .badManifest, cancellation: .badManifest)
        case .otherVersion: .onLink(.protocolBroken, .versionNotSupported, cancellation: .versionNotSupported)
        case .unknownFrame: .onLink(.protocolBroken, .unknownFrame, cancellation: .unknownFrame)
        case .protocolViolation: .onLink(.protocolBroken, .protocolViolation, cancellation: .protocolViolation)
        case .unknownFeature:
            .onLink(.protocolBroken, .featureNotSupported, alone: true, cancellation: .featureNotSupported)
        case .unknownEncoding: .onLink(.protocolBroken, .featureNotSupported, cancellation: .featureNotSupported)

        case .fileDamaged: .inFile(.damaged)
        case .badMessageInFile: .inFile(.badManifest)
        case .otherVersionInFile: .inFile(.versionNotSupported)
        case .unknownFrameInFile: .inFile(.unknownFrame)
        case .noShipmentInFile: .inFile(.protocolViolation)
        case .unknownFeatureInFile: .inFile(.featureNotSupported, alone: true)
        case .unknownEncodingInFile: .inFile(.featureNotSupported)

        case .cannotCode: .ofShipment(.tryAgain, .damaged)
        case .badEncoding: .ofShipment(.badData, .damaged)
        case .badStore: .ofShipment(.badData, .badStore)
        case .unreadableStore: .ofShipment(.badData, .badStore, isTold: false)
        case .tooLarge: .ofShipment(.cannotInstall, .tooLarge)
        case .wrongModel: .ofShipment(.badData, .wrongModel)
        case .wrongSchema: .ofShipment(.badData, .wrongSchema)
        case .probeFailed: .ofShipment(.badData, .probeFailed)
        case .missingBase: .ofShipment(.missingBase, .missingBase)
        case .notAllowed: .ofShipment(.notPermitted, .notTrusted)
        case .badSignature: .onLink(.notPermitted, .badSignature, cancellation: .stopped)
        case .replayed: .ofShipment(.notPermitted, .replayed)
        case .notIntact: .ofShipment(.badData, .damaged)
        case .rolledBack: .ofShipment(.cannotInstall, .rolledBack)
        case .otherStore: .ofShipment(.cannotInstall, .otherStore)
        case .inboxDamaged: .ofShipment(.badData, .cannotInstall, isTold: false)
        case .notInInbox: .ofShipment(.noInput, .cannotInstall)
        case .inboxBusy: .ofShipment(.tryAgain, .cannotInstall)
        case .storeBusy: .ofShipment(.tryAgain, .busy)
        case .outOfResources: .ofShipment(.tryAgain, .busy, isTold: false)
        case .inTheWay: .ofShipment(.cannotInstall, .cannotInstall)
        case .inboxUnsafe: .ofShipment(.cannotInstall, .cannotInstall)
        case .inboxNotPermitted: .ofShipment(.notPermitted, .cannotInstall, isTold: false)
        case .diskFull: .ofShipment(.cannotInstall, .noSpace, isTold: false)
        case .noSpace: .ofShipment(.cannotInstall, .noSpace)
        case .cannotInstall: .ofShipment(.cannotInstall, .cannotInstall, isTold: false)

        case .notServed: .ofShipment(.noInput, .cannotInstall, isTold: false)
        case .readerMisused: .ofShipment(.usage, .cannotInstall, isTold: false)
        case .notSettled: .ofShipment(.badData, .cannotInstall, isTold: false)
        case .readingPaused: .ofShipment(.tryAgain, .cannotInstall, isTold: false)
        case .fileFailed: .ofShipment(.inputOutput, .cannotInstall, isTold: false)
        case .databaseFailed: .ofShipment(.badData, .cannotInstall)

        case .endedForProtocol: .untold(.protocolBroken)
        case .endedForData: .untold(.badData)
        case .endedForPlace: .untold(.cannotInstall)
        case .endedForBase: .untold(.missingBase)
        case .endedForNow: .untold(.tryAgain)
        case .endedForTrust: .untold(.notPermitted)
        case .endedForOther: .untold(.unavailable)
        case .noWayBack: .untold(.protocolBroken)

        case .stopped: .onLink(.tryAgain, .stopped, cancellation: .stopped)
        case .unforeseen: .ofShipment(.unexpected, .cannotInstall, isTold: false)
        }
    }

    /// What the other side has ended a shipment for: the statuses of `Protocol/README.md` section 7.
    init(endedFor code: RefusalCode?) {
        self =
            switch code {
            case .versionNotSupported, .unknownFrame, .protocolViolation, .featureNotSupported: .endedForProtocol
            case .damaged, .badManifest, .badStore, .wrongModel, .wrongSchema, .probeFailed: .endedForData
            case .noSpace, .tooLarge, .cannotInstall, .rolledBack, .otherStore: .endedForPlace
            case .missingBase: .endedForBase
            case .busy, .timedOut, .stopped: .endedForNow
            case .notTrusted, .badSignature, .replayed: .endedForTrust
            case nil: .endedForOther
            }
    }
}

/// The kinds of rows. A row says what sets it apart from others of its kind.
extension FailureRule {
    /// The trouble is on this device, and has nothing to do with what the other side sent.
    fileprivate static func here(_ status: ExitStatus, isTold: Bool = true) -> Self {
        Self(
            exitStatus: status, refusal: .cannotInstall, endsShipmentAlone: false, cancellation: .stopped,
            isTold: isTold)
    }

    /// The other side cannot be told, or knows already.
    fileprivate static func untold(_ status: ExitStatus) -> Self {
        Self(exitStatus: status, refusal: nil, endsShipmentAlone: false, cancellation: nil, isTold: false)
    }

    fileprivate static func onLink(
        _ status: ExitStatus, _ refusal: RefusalCode, alone: Bool = false, cancellation: RefusalCode?
    ) -> Self {
        Self(
            exitStatus: status, refusal: refusal, endsShipmentAlone: alone, cancellation: cancellation, isTold: true)
    }

    fileprivate static func inFile(_ refusal: RefusalCode, alone: Bool = false) -> Self {
        Self(exitStatus: .badData, refusal: refusal, endsShipmentAlone: alone, cancellation: nil, isTold: true)
    }

    /// One shipment cannot be installed; the session goes on.
    fileprivate static func ofShipment(_ status: ExitStatus, _ refusal: RefusalCode, isTold: Bool = true) -> Self {
        Self(exitStatus: status, refusal: refusal, endsShipmentAlone: true, cancellation: .stopped, isTold: isTold)
    }
}
