import ShipLinks
package import ShipProtocol
import StoreFiles
import StoreInbox
import StoreServing
import SystemPackage

/// Which errors are told to the other side, and how.
extension ShipmentError {
    /// What a consumer refuses with, or `nil` where there is nobody to tell.
    package var refusal: Reason? {
        switch self {
        case .refused, .givenUp, .cannotAnswer: nil
        case .link(.timedOut), .link(.tooSlow), .overdue: reason(.timedOut)
        case .link(.notTrusted), .link(.noCertificate), .notAllowed, .unsigned, .unknownSigner: reason(.notTrusted)
        case .signature: reason(.badSignature)
        case .link: nil
        case .protocolBroken(.truncated): reason(.protocolViolation)
        case .protocolBroken(let error), .badFile(let error): reason(error.code)
        case .compression: reason(.damaged)
        // The store may be as good as any.
        case .badStore(.checkerFailed(.notStarted)): reason(.cannotInstall)
        case .badStore: reason(.badStore)
        case .tooMuch: reason(.tooLarge)
        case .unwelcome(.noModel), .unwelcome(.otherModel): reason(.wrongModel)
        case .unwelcome(.otherSchema), .unwelcome(.otherUserVersion): reason(.wrongSchema)
        case .probe: reason(.probeFailed)
        case .install(.rolledBack): reason(.rolledBack)
        case .install(.otherStore): reason(.otherStore)
        case .missingBase: reason(.missingBase)
        case .install(.outOfSequence(_, .otherDevice)), .install(.outOfSequence(_, .noDevice)): reason(.notTrusted)
        case .install(.outOfSequence): reason(.replayed)
        case .install(.storeBusy): reason(.busy)
        case .install(.mismatch): reason(.damaged)
        case .install(let error): reason(error.isOutOfSpace ? .noSpace : .cannotInstall)
        case .file(let error): reason(error.isOutOfSpace ? .noSpace : .cannotInstall)
        case .source, .serving, .sqlite, .unforeseen, .model, .operation, .report, .unfinished, .metadata, .memory,
            .notRemembered, .identity,
            .trustList, .pairing,
            .noSuchPeer, .sameName, .notWhole, .badHoldings:
            reason(.cannotInstall)
        case .stopped: reason(.stopped)
        }
    }

    /// Whether a consumer that refuses a shipment for this may take the next one of the same session.
    ///
    /// Source: `Protocol/README.md` section 5.4.
    var endsShipmentAlone: Bool {
        switch self {
        case .compression, .badStore, .tooMuch, .unwelcome, .probe, .install, .notAllowed, .unsigned, .unknownSigner,
            .missingBase,
            .file, .serving, .sqlite, .unforeseen, .protocolBroken(.featureNotSupported),
            .badFile(.featureNotSupported):
            true
        case .refused, .givenUp, .cannotAnswer, .link, .overdue, .protocolBroken, .badFile, .source, .model, .operation,
            .report,
            .unfinished, .metadata, .memory, .notRemembered, .identity, .trustList, .pairing, .noSuchPeer, .sameName,
            .signature, .notWhole, .badHoldings, .stopped:
            false
        }
    }

    /// What a producer gives up with, or `nil` where there is nobody to tell.
    var cancellation: Reason? {
        switch self {
        case .refused, .givenUp, .cannotAnswer, .badFile, .link(.closedByPeer), .protocolBroken(.truncated): nil
        case .link(.timedOut), .link(.tooSlow), .overdue: reason(.timedOut)
        case .link: nil
        case .protocolBroken(let error): reason(error.code)
        case .stopped: reason(.stopped)
        case .source, .compression, .badStore, .tooMuch, .unwelcome, .probe, .model, .install, .serving, .file, .sqlite,
            .unforeseen,
            .operation, .report, .unfinished, .metadata, .memory, .notRemembered, .identity, .trustList, .pairing,
            .noSuchPeer, .sameName,
            .notAllowed, .signature,
            .unsigned, .unknownSigner, .missingBase, .notWhole, .badHoldings:
            reason(.stopped)
        }
    }

    /// The paths of this device are not the other side's business.
    private func reason(_ code: RefusalCode) -> Reason {
        switch self {
        case .install(.occupied(let path)):
            Reason(code, message: "\(path.lastComponent?.string ?? "a file") is in the way in the inbox")
        case .file, .install(.file), .install(.badManifest), .install(.badRecord), .install(.badOrigin),
            .badStore(.file), .badStore(.checkerFailed(.notStarted)), .source, .model,
            .serving, .operation, .report, .unfinished, .memory, .identity, .unforeseen:
            Reason(code, message: code.plainWords)
        default: Reason(code, message: explanation.cause)
        }
    }
}

extension RefusalCode {
    /// For people, where the error itself would name what the other side need not know.
    fileprivate var plainWords: String {
        switch self {
        case .noSpace: "the disk is full"
        case .cannotInstall: "it cannot be installed in the inbox"
        case .stopped: "the store cannot be copied"
        default: rawValue
        }
    }
}
