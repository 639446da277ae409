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
    package var failureCode: FailureCode {
        switch self {
        case .source(let error): error.failureCode
        case .link(let error): error.failureCode
        case .protocolBroken(let error): error.failureCode
        case .badFile(let error): error.failureCodeOfFile
        case .compression(let error): error.failureCode
        case .overdue: .timedOut
        case .refused(let reason), .givenUp(let reason): FailureCode(endedFor: reason.knownCode)
        // The store itself may be sound.
        case .badStore(.checkerNotStarted(let errno)) where Errno(rawValue: errno).passes: .outOfResources
        case .badStore(.checkerNotStarted): .cannotInstall
        case .badStore(.file(let error)) where error.errno.passes: .outOfResources
        case .badStore(.file): .unreadableStore
        case .badStore: .badStore
        case .tooMuch: .tooLarge
        case .unwelcome(.noModel), .unwelcome(.otherModel): .wrongModel
        case .unwelcome(.otherSchema), .unwelcome(.otherUserVersion): .wrongSchema
        case .probe: .probeFailed
        case .model(.notThere): .notFound
        case .model(.file(let error)): error.failureCode(.here)
        case .model: .unusable
        case .install(let error): error.failureCode
        case .serving(let error): error.failureCode
        case .metadata(let error): error.failureCode
        case .file(let error): error.failureCode(.ofInbox)
        case .operation(let error): error.failureCode
        case .report(.partOfSubject): .badRequest
        case .report(.inTheWay): .noPlace
        case .unfinished(let error, _): error.failureCode
        case .memory(let error): error.failureCode
        case .identity(let error): error.failureCode
        case .notRemembered, .noSuchPeer: .unknownName
        case .trustList, .sameName, .otherSent: .ambiguousName
        case .pairing(.over): .pairingOver
        case .pairing(.badMessage): .pairingBroken
        case .pairing(.wrongCode), .pairing(.notOpen): .pairingFailed
        case .notAllowed, .unsigned, .unknownSigner: .notAllowed
        case .signature: .badSignature
        case .missingBase: .missingBase
        case .notWhole: .incompleteShipment
        case .unsoundBase: .badStore
        case .badHoldings: .badHoldings
        case .cannotAnswer: .noWayBack
        case .stopped: .stopped
        case .sqlite: .databaseFailed
        case .unforeseen: .unforeseen
        }
    }

    /// What a consumer refuses with, or `nil` where there is no other side to tell.
    package var refusal: Reason? { failureCode.rule.refusal.map(reason) }

    /// What a producer gives up with, or `nil` where there is no other side to tell.
    var cancellation: Reason? { failureCode.rule.cancellation.map(reason) }

    /// Whether a consumer that refuses a shipment for this may take the next one of the same session.
    var endsShipmentAlone: Bool { failureCode.rule.endsShipmentAlone }

    /// Paths of this device stay here.
    private func reason(_ code: RefusalCode) -> Reason {
        if case .install(.occupied(let path)) = self {
            return Reason(code, message: "\(path.lastComponent?.text ?? "a file") is in the way in the inbox")
        }
        // The other side reads this: what is the other end here is itself there.
        if case .link(.notTrusted(let id)) = self {
            return Reason(code, message: "this device is not trusted there (its id is \(id))")
        }
        return Reason(code, message: failureCode.rule.isTold ? cause.text : code.plainWords)
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
    fileprivate var failureCode: FailureCode {
        switch self {
        case .noSuchFile: .notFound
        case .folder, .notARegularFile, .notADatabase, .truncated, .corrupt, .needsApp, .hotJournal,
            .missingExternalFile, .tooManyExternalFiles, .tableIsTaken, .unsupportedFormat,
            .severalNames, .strangeExternalFile:
            .unusable
        case .noSuchTable, .tableMustStay, .tooMuchMetadata, .partOfStore: .badRequest
        case .noPermission: .noPermission
        case .busy, .cancelled: .inUse
        case .sqlite(let code, _) where OperationError.isDamage(sqlite: code): .unusable
        case .writeAheadLogOnReadOnlyMedium, .sqlite: .inputOutput
        case .noSpace, .noRoom: .noPlace
        case .file(let error): error.failureCode(.here)
        }
    }
}

extension OperationError {
    fileprivate var failureCode: FailureCode {
        switch self {
        case .noSuchStore, .noSuchCopy, .noCopyTagged: .notFound
        case .notADatabase, .needsApp, .unusable, .strangeFile, .corrupt, .badCopy, .incompleteCopy, .damagedCopy,
            .otherIdentity, .otherSchema,
            .otherTextEncoding:
            .unusable
        case .busy, .folderBusy, .supportFolderBusy, .inUse, .stopped: .inUse
        case .noPermission: .noPermission
        case .occupied, .storeInTheWay, .sharedSupportFolder, .linkedSupportFolder, .sidecar, .storeIsSidecar, .noSpace:
            .noPlace
        case .kept, .sameStore, .notDamaged, .badTag, .badMetadata, .badFileName: .badRequest
        case .sqlite(let code, _) where OperationError.isDamage(sqlite: code): .unusable
        case .notVerified, .sqlite: .inputOutput
        case .file(let error): error.failureCode(.here)
        }
    }
}

extension IdentityError {
    fileprivate var failureCode: FailureCode {
        switch self {
        case .exposed, .otherOwner, .notPlain: .noPermission
        case .newerFormat: .newerFormat
        case .damaged: .unusable
        case .busy: .inUse
        case .notMade: .noCertificate
        case .file(let error): error.failureCode(.here)
        }
    }
}

extension BaseMemoryError {
    fileprivate var failureCode: FailureCode {
        switch self {
        case .exposed, .otherOwner, .notPlain: .noPermission
        case .newerFormat: .newerFormat
        case .damaged: .unusable
        case .busy, .stillThere, .stopped: .inUse
        case .file(let error): error.failureCode(.here)
        }
    }
}

/// The kinds of failed calls of the platform. A kind has the same exit status whosever file it is; what the other side is told differs.
private struct FileFailureCodes {
    let missing, ofOtherKind, denied, occupied, full, passing, failed: FailureCode

    /// Where the other side has nothing to do with the file.
    static let here = Self(
        missing: .notFound, ofOtherKind: .unusable, denied: .noPermission, occupied: .noPlace, full: .noPlace,
        passing: .inUse, failed: .inputOutput)
    static let ofInbox = Self(
        missing: .notServed, ofOtherKind: .inboxDamaged, denied: .inboxNotPermitted, occupied: .cannotInstall,
        full: .diskFull, passing: .outOfResources, failed: .fileFailed)
    static let ofLink = Self(
        missing: .noSuchFile, ofOtherKind: .noShipmentInFile, denied: .linkNotPermitted, occupied: .noPlaceForLink,
        full: .noPlaceForLink, passing: .linkStopped, failed: .linkFailed)
}

extension FileError {
    fileprivate func failureCode(_ codes: FileFailureCodes) -> FailureCode {
        if isOutOfSpace { return codes.full }
        if errno.passes { return codes.passing }
        return switch errno {
        case .noSuchFileOrDirectory: codes.missing
        case .permissionDenied, .notPermitted, .readOnlyFileSystem: codes.denied
        case .notDirectory: operation.makes ? codes.occupied : codes.missing
        case .isDirectory, .fileExists: operation.makes ? codes.occupied : codes.ofOtherKind
        default: codes.failed
        }
    }
}

extension FileError.Operation {
    /// Whether it gives something a place.
    fileprivate var makes: Bool {
        switch self {
        case .makeFolder, .makeFolderIn, .link, .rename, .write: true
        case .open, .read, .sync, .remove, .lock, .resolve, .watch, .stat, .listFolder, .changeMode, .changeOwner,
            .measureSpace, .setAttributes:
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

extension MetadataError {
    fileprivate var failureCode: FailureCode {
        switch self {
        case .notAllowed: .metadataNotAllowed
        case .busy, .cancelled: .metadataBusy
        case .readOnly: .metadataReadOnly
        case .unreadablePropertyList, .tableIsTaken, .unusable: .metadataUnusable
        case .noSpace: .noPlace
        case .sqlite: .metadataNotWritten
        }
    }
}

extension LinkError {
    fileprivate var failureCode: FailureCode {
        switch self {
        case .couldNotResolve, .refused, .timedOutConnecting, .unreachable, .notASocket, .childNotStarted, .childFailed,
            .addressInUse, .notOurAddress:
            .unreachable
        case .inTheWay: .noPlaceForLink
        case .notLoopback, .pathTooLong, .isATerminal, .oneWay: .wrongLink
        case .notPermitted, .folderIsOpen, .otherUser, .notTrustedThere, .noTLSThere, .onlyTLSThere: .linkNotPermitted
        case .notTrusted, .noCertificate: .unknownDevice
        case .timedOut, .tooSlow: .timedOut
        case .cancelled: .linkStopped
        case .tlsFailed, .closedByPeer: .linkClosed
        case .file(let error): error.failureCode(.ofLink)
        case .carrierFailed, .io: .linkFailed
        }
    }
}

extension ProtocolError {
    fileprivate var failureCode: FailureCode {
        switch self {
        case .truncated: .streamTruncated
        case .damaged: .streamDamaged
        case .badMessage: .badMessage
        case .versionNotSupported: .otherVersion
        case .unknownFrame: .unknownFrame
        case .featureNotSupported: .unknownFeature
        case .encodingNotSupported, .noCommonEncoding: .unknownEncoding
        case .noEnd, .wrongMagic, .badPreamble, .wrongRole, .payloadTooLong, .inflatedTooLong, .outOfOrder,
            .badPart, .badBlock, .badSignatureFrame, .incomplete:
            .protocolViolation
        }
    }

    /// The same for what is read from a file.
    fileprivate var failureCodeOfFile: FailureCode {
        switch self {
        case .damaged: .fileDamaged
        case .badMessage: .badMessageInFile
        case .versionNotSupported: .otherVersionInFile
        case .unknownFrame: .unknownFrameInFile
        case .featureNotSupported: .unknownFeatureInFile
        case .encodingNotSupported, .noCommonEncoding: .unknownEncodingInFile
        case .truncated, .noEnd, .wrongMagic, .badPreamble, .wrongRole, .payloadTooLong, .inflatedTooLong,
            .outOfOrder, .badPart, .badBlock, .badSignatureFrame, .incomplete:
            .noShipmentInFile
        }
    }
}

extension CompressionError {
    fileprivate var failureCode: FailureCode {
        switch self {
        case .outOfMemory, .sourceChanged: .cannotCode
        case .damaged, .notCanonical, .segmentFull: .badEncoding
        }
    }
}

extension InboxError {
    fileprivate var failureCode: FailureCode {
        switch self {
        case .mismatch: .notIntact
        case .badManifest, .badRecord, .badOrigin: .inboxDamaged
        case .outOfSequence(_, .otherDevice), .outOfSequence(_, .noDevice): .notAllowed
        case .outOfSequence: .replayed
        case .newerFormat: .newerFormat
        case .noSuchStore, .noSuchGeneration, .noOlderGeneration, .noInbox: .notInInbox
        case .inboxInUse, .held: .inboxBusy
        case .storeBusy: .storeBusy
        case .occupied: .inTheWay
        case .ofOtherUser, .openToOthers, .noSymbolicLinks: .inboxUnsafe
        case .noSpace: .noSpace
        case .rolledBack: .rolledBack
        case .otherStore: .otherStore
        case .file(let error): error.failureCode(.ofInbox)
        }
    }
}

extension CoordinatorError {
    fileprivate var failureCode: FailureCode {
        switch self {
        case .noSuchStore, .noSuchIndex, .notOneStore, .generationGone, .inbox: .notServed
        case .noExternalFile, .externalFileLeftOut, .externalFileMissingAtProducer: .notServed
        case .sameName, .hasNoGenerations, .hasNoFile, .released: .readerMisused
        case .inWALMode, .hasSidecar, .notAFile: .notSettled
        case .generationLocked, .suspended: .readingPaused
        case .file(let error): error.failureCode(.ofInbox)
        }
    }
}
