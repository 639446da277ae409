import DeviceTrust
import ShipCompression
import ShipLinks
package import ShipProtocol
import StoreBases
import StoreFiles
import StoreInbox
import StoreOperations
import StoreServing
import StoreSnapshot
import SystemPackage

extension ShipmentError {
    package var failureRule: FailureRule {
        switch self {
        case .source(let error): error.failureRule
        case .link(let error): error.failureRule
        case .protocolBroken(let error): error.failureRule
        case .badFile(let error): error.failureRuleOfFile
        case .compression(let error): error.failureRule
        case .overdue: .timedOut
        case .refused(let reason), .givenUp(let reason): .ended(for: reason.knownCode)
        // The store itself may be sound.
        case .badStore(.checkerNotStarted(let errno)) where Errno(rawValue: errno).passes: .outOfResources
        case .badStore(.checkerNotStarted): .cannotInstall
        case .badStore(.file(let error)) where error.errno.passes: .outOfResources
        case .badStore(.file): .ofShipment(.badData, .badStore, isTold: false)
        case .badStore: .badStore
        case .tooMuch: .ofShipment(.cannotInstall, .tooLarge)
        case .unwelcome(.noModel), .unwelcome(.otherModel): .ofShipment(.badData, .wrongModel)
        case .unwelcome(.otherSchema), .unwelcome(.otherUserVersion): .ofShipment(.badData, .wrongSchema)
        case .probe: .ofShipment(.badData, .probeFailed)
        case .model(.notThere): .notFound
        case .model(.file(let error)): error.failureRule(.here)
        case .model: .unusable
        case .install(let error): error.failureRule
        case .serving(let error): error.failureRule
        case .file(let error): error.failureRule(.ofInbox)
        case .operation(let error): error.failureRule
        case .report(.partOfSubject): .badRequest
        case .report(.inTheWay): .noPlace
        case .unfinished(let error, _): error.failureRule
        case .memory(let error), .unknownSent(_, let error): error.failureRule
        case .identity(let error): error.failureRule
        case .notRemembered, .noSuchPeer: .here(.noInput)
        case .trustList, .sameName: .here(.usage)
        case .otherSent, .nothingToShip: .badRequest
        case .pairing(.over): .here(.tryAgain)
        case .pairing(.badMessage): .here(.protocolBroken)
        case .pairing(.wrongCode), .pairing(.notOpen): .here(.notPermitted)
        case .noReceiver: .here(.notPermitted)
        case .noStoreFor: .onLink(.notPermitted, .notTrusted, cancellation: .notTrusted)
        case .notAllowed, .unsigned, .unknownSigner: .notAllowed
        case .notSigned: .onLink(.badData, .stopped, alone: true, cancellation: .stopped)
        case .takesNoRelay: .onLink(.protocolBroken, .featureNotSupported, cancellation: .featureNotSupported)
        case .signature: .onLink(.notPermitted, .badSignature, cancellation: .stopped)
        case .missingBase: .ofShipment(.missingBase, .missingBase)
        case .notWhole: .here(.missingBase)
        case .earlier(_, let error): error.failureRule
        case .badHoldings: .here(.badData)
        case .publication(let error): error.failureRule
        case .cannotAnswer: .untold(.protocolBroken)
        case .noStoreYet, .stopped: .onLink(.tryAgain, .stopped, cancellation: .stopped)
        case .sqlite: .ofShipment(.badData, .cannotInstall)
        case .unforeseen: .ofShipment(.unexpected, .cannotInstall, isTold: false)
        }
    }

    /// The reason of a consumer's refusal, or `nil` where there is no other side to tell.
    package var refusal: Reason? { failureRule.refusal.map(reason) }

    /// The reason for which a producer gives up, or `nil` where there is no other side to tell.
    var cancellation: Reason? { failureRule.cancellation.map(reason) }

    /// Whether a consumer that refuses a shipment for this may take the next one of the same session.
    var endsShipmentAlone: Bool { failureRule.endsShipmentAlone }

    /// Paths of this device stay here.
    private func reason(_ code: RefusalCode) -> Reason {
        let message =
            switch self {
            case .install(.occupied(let path)): "\(path.lastComponent?.text ?? "a file") is in the way in the inbox"
            // The other side reads this: what is the other end here is itself there.
            case .link(.notTrusted(let id)): "this device is not trusted there (its id is \(id))"
            case .noStoreFor(let id): "this device may have no store there (its id is \(id))"
            case .noStoreYet: "no store has come there yet"
            default: failureRule.isTold ? cause.text : code.plainWords
            }
        return Reason(code, message: message)
    }
}

extension RefusalCode {
    /// For people, in place of the words of an error that names paths.
    fileprivate var plainWords: String {
        switch self {
        case .noSpace: "the disk is full"
        case .cannotInstall: "it cannot be installed in the inbox"
        case .stopped: "the store cannot be copied"
        default: rawValue
        }
    }
}

extension SnapshotError {
    fileprivate var failureRule: FailureRule {
        switch self {
        case .noSuchFile: .notFound
        case .folder, .notARegularFile, .notADatabase, .logOfNothing, .truncated, .corrupt, .needsApp, .hotJournal,
            .missingExternalFile, .tooManyExternalFiles, .tableIsTaken, .unsupportedFormat,
            .severalNames, .strangeExternalFile, .sameExternalFile:
            .unusable
        case .noSuchTable, .tableMustStay, .badMetadata, .partOfStore: .badRequest
        case .noPermission: .noPermission
        case .busy, .cancelled: .inUse
        case .sqlite(let code, _) where OperationError.isDamage(sqlite: code): .unusable
        case .writeAheadLogOnReadOnlyMedium, .sqlite: .inputOutput
        case .noSpace, .noRoom: .noPlace
        case .file(let error): error.failureRule(.here)
        }
    }
}

extension OperationError {
    fileprivate var failureRule: FailureRule {
        switch self {
        case .noSuchStore, .noSuchCopy, .noCopyTagged: .notFound
        case .badCopy(.file(let error)) where !error.isOfAbsence: error.failureRule(.here)
        case .notADatabase, .folder, .needsApp, .unusable, .strangeFile, .corrupt, .badCopy, .incompleteCopy,
            .damagedCopy, .otherIdentity, .otherSchema, .otherTextEncoding, .notCanonical, .unreadablePropertyList,
            .tableIsTaken, .damagedOrEncrypted:
            .unusable
        case .busy, .folderBusy, .supportFolderBusy, .inUse, .stopped: .inUse
        case .noPermission: .noPermission
        case .occupied, .storeInTheWay, .sharedSupportFolder, .linkedSupportFolder, .sidecar, .storeIsSidecar, .noSpace:
            .noPlace
        case .kept, .sameStore, .notDamaged, .badTag, .badMetadata, .badFileName, .badStoreName: .badRequest
        case .sqlite(let code, _) where OperationError.isDamage(sqlite: code): .unusable
        case .notVerified, .sqlite: .inputOutput
        case .file(let error): error.failureRule(.here)
        }
    }
}

extension IdentityError {
    fileprivate var failureRule: FailureRule {
        switch self {
        case .exposed, .otherOwner, .notPlain: .noPermission
        case .newerFormat: .newerFormat
        case .damaged: .unusable
        case .busy, .stopped: .inUse
        case .notMade: .here(.unexpected, isTold: false)
        case .badKey: .here(.usage, isTold: false)
        case .file(let error): error.failureRule(.here)
        }
    }
}

extension BaseMemoryError {
    fileprivate var failureRule: FailureRule {
        switch self {
        case .exposed, .otherOwner, .notPlain: .noPermission
        case .newerFormat: .newerFormat
        case .damaged: .unusable
        case .busy, .stillThere, .stopped: .inUse
        case .noRoom: .noPlace
        case .file(let error): error.failureRule(.here)
        }
    }
}

/// The kinds of failed calls of the platform. A kind has the same exit status whosever file it is; what the other side is told differs.
private struct FileFailureRules {
    let missing, ofOtherKind, denied, occupied, full, passing, failed: FailureRule

    /// Where the other side has nothing to do with the file.
    static let here = Self(
        missing: .notFound, ofOtherKind: .unusable, denied: .noPermission, occupied: .noPlace, full: .noPlace,
        passing: .outOfResources, failed: .inputOutput)
    static let ofInbox = Self(
        missing: .notServed, ofOtherKind: .inboxDamaged,
        denied: .ofShipment(.notPermitted, .cannotInstall, isTold: false), occupied: .cannotInstall,
        full: .ofShipment(.cannotInstall, .noSpace, isTold: false), passing: .outOfResources,
        failed: .ofShipment(.inputOutput, .cannotInstall, isTold: false))
    static let ofLink = Self(
        missing: .untold(.noInput), ofOtherKind: .noShipmentInFile, denied: .linkNotPermitted,
        occupied: .noPlaceForLink, full: .noPlaceForLink, passing: .linkStopped, failed: .linkFailed)
}

extension FileError {
    fileprivate func failureRule(_ rules: FileFailureRules) -> FailureRule {
        if isOutOfSpace { return rules.full }
        if errno.passes { return rules.passing }
        return switch errno {
        case .noSuchFileOrDirectory: rules.missing
        case .permissionDenied, .notPermitted, .readOnlyFileSystem: rules.denied
        case .notDirectory: operation.makes ? rules.occupied : rules.missing
        case .isDirectory, .fileExists: operation.makes ? rules.occupied : rules.ofOtherKind
        default: rules.failed
        }
    }
}

extension FileError.Operation {
    /// Whether it gives something a place.
    fileprivate var makes: Bool {
        switch self {
        case .makeFolder, .makeFolderIn, .link, .rename, .write: true
        case .open, .read, .sync, .remove, .lock, .resolve, .watch, .stat, .listFolder, .changeMode, .changeTime,
            .changeOwner, .measureSpace, .setAttributes:
            false
        }
    }
}

extension Errno {
    /// Whether the same call may succeed in a while: the system has no more descriptors, processes or memory now.
    fileprivate var passes: Bool {
        [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .resourceTemporarilyUnavailable, .noMemory].contains(self)
    }
}

extension LinkError {
    fileprivate var failureRule: FailureRule {
        switch self {
        case .couldNotResolve, .refused, .timedOutConnecting, .unreachable, .notASocket, .childNotStarted, .childFailed,
            .addressInUse, .notOurAddress:
            .untold(.unavailable)
        case .inTheWay: .noPlaceForLink
        case .notLoopback, .pathTooLong, .isATerminal, .oneWay: .untold(.usage)
        case .notPermitted, .folderIsOpen, .otherUser, .notTrustedThere, .noTLSThere, .onlyTLSThere: .linkNotPermitted
        case .notTrusted, .noCertificate: .onLink(.notPermitted, .notTrusted, cancellation: .notTrusted)
        case .timedOut, .tooSlow: .timedOut
        case .cancelled: .linkStopped
        case .tlsFailed, .closedByPeer: .untold(.protocolBroken)
        case .certificateRefused, .proxyFailed(_, .refused(407)): .untold(.notPermitted)
        case .noAuthorities: .untold(.noInput)
        case .proxyFailed: .untold(.unavailable)
        case .badProxy: .untold(.usage)
        case .file(let error): error.failureRule(.ofLink)
        case .carrierFailed, .io: .linkFailed
        }
    }
}

extension ProtocolError {
    /// The rule for bytes of a link that break the protocol.
    fileprivate var failureRule: FailureRule {
        switch self {
        // Nothing goes through a link that has ended.
        case .truncated: .onLink(.protocolBroken, code, cancellation: nil)
        case .damaged, .badMessage: .onLink(.badData, code, cancellation: code)
        case .featureNotSupported: .onLink(.protocolBroken, code, alone: true, cancellation: code)
        case .versionNotSupported, .unknownFrame, .encodingNotSupported, .noCommonEncoding, .noEnd, .wrongMagic,
            .badPreamble, .wrongRole, .payloadTooLong, .inflatedTooLong, .outOfOrder, .badPart, .badBlock,
            .badSignatureFrame, .afterEnd, .incomplete:
            .onLink(.protocolBroken, code, cancellation: code)
        }
    }

    /// The rule for bytes of a file that break the protocol.
    fileprivate var failureRuleOfFile: FailureRule {
        if case .featureNotSupported = self { .inFile(code, alone: true) } else { .inFile(code) }
    }
}

extension CompressionError {
    fileprivate var failureRule: FailureRule {
        switch self {
        case .outOfMemory, .sourceChanged: .ofShipment(.tryAgain, .damaged)
        case .damaged, .notCanonical, .segmentFull: .ofShipment(.badData, .damaged)
        }
    }
}

extension InboxError {
    fileprivate var failureRule: FailureRule {
        switch self {
        case .mismatch: .ofShipment(.badData, .damaged)
        case .badManifest, .lost, .badRecord, .badOrigin: .inboxDamaged
        case .outOfSequence(_, .otherDevice), .outOfSequence(_, .noDevice): .notAllowed
        case .outOfSequence: .ofShipment(.notPermitted, .replayed)
        case .newerFormat: .newerFormat
        case .insideInbox: .badRequest
        case .readOnly: FileFailureRules.ofInbox.denied
        case .noSuchStore, .noSuchGeneration, .noOlderGeneration, .noInbox, .notAFolder:
            .ofShipment(.noInput, .cannotInstall)
        case .inboxInUse, .held: .ofShipment(.tryAgain, .cannotInstall)
        case .storeBusy: .ofShipment(.tryAgain, .busy)
        case .occupied, .hasGenerations: .inTheWay
        case .ofOtherUser, .openToOthers, .noSymbolicLinks, .inboxRemoved: .ofShipment(.cannotInstall, .cannotInstall)
        case .noSpace: .ofShipment(.cannotInstall, .noSpace)
        case .onHold: .ofShipment(.cannotInstall, .held)
        case .rolledBack: .ofShipment(.cannotInstall, .rolledBack)
        case .otherStore: .ofShipment(.cannotInstall, .otherStore)
        case .file(let error): error.failureRule(.ofInbox)
        }
    }
}

extension CoordinatorError {
    fileprivate var failureRule: FailureRule {
        switch self {
        case .noSuchStore, .noSuchIndex, .notOneStore, .generationGone, .inbox: .notServed
        case .noExternalFile, .externalFileLeftOut, .externalFileMissingAtProducer: .notServed
        case .sameName, .hasNoGenerations, .hasNoFile, .released: .ofShipment(.usage, .cannotInstall, isTold: false)
        case .inWALMode, .hasSidecar, .notAFile: .ofShipment(.badData, .cannotInstall, isTold: false)
        case .generationLocked, .suspended: .ofShipment(.tryAgain, .cannotInstall, isTold: false)
        case .tooOld: .here(.tooOld)
        case .file(let error): error.failureRule(.ofInbox)
        }
    }
}
