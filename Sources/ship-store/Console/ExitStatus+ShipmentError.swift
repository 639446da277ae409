import ShipStore
import SystemPackage

extension ExitStatus {
    init(_ error: ShipmentError) {
        self =
            switch error {
            case .source(let error): ExitStatus(error)
            case .link(let error): ExitStatus(error)
            case .protocolBroken(.damaged), .protocolBroken(.badMessage): .badData
            case .protocolBroken: .protocolBroken
            case .badFile: .badData
            case .compression(.outOfMemory): .tryAgain
            case .compression(.sourceChanged): .tryAgain
            case .compression(.damaged), .compression(.notCanonical), .compression(.segmentFull): .badData
            case .tooMuch: .cannotInstall
            case .badStore(.checkerFailed(.notStarted)): .cannotInstall
            case .badStore, .unwelcome, .probe: .badData
            case .model(.notThere): .noInput
            case .model(.file): .inputOutput
            case .model: .badData
            case .install(let error): ExitStatus(error)
            case .serving(let error): ExitStatus(error)
            case .metadata(let error): ExitStatus(error)
            case .file(let error): error.isOutOfSpace ? .cannotInstall : .inputOutput
            case .refused(let reason), .givenUp(let reason): ExitStatus(reason.knownCode)
            case .operation(let error): ExitStatus(error)
            case .report(.partOfSubject): .usage
            case .report(.inTheWay): .cannotInstall
            case .unfinished(let error, _): ExitStatus(error)
            case .identity(let error): ExitStatus(error)
            case .memory(let error): ExitStatus(error)
            case .notRemembered: .noInput
            case .trustList, .sameName: .usage
            case .pairing(.over): .tryAgain
            case .pairing(.badMessage): .protocolBroken
            case .pairing: .notPermitted
            case .noSuchPeer: .noInput
            case .notAllowed, .signature, .unsigned, .unknownSigner: .notPermitted
            case .missingBase, .notWhole: .missingBase
            case .badHoldings: .badData
            case .cannotAnswer: .protocolBroken
            case .stopped, .overdue: .tryAgain
            case .sqlite: .badData
            case .unforeseen: .unexpected
            }
    }

    /// The table of `Protocol/README.md` section 7.
    private init(_ code: RefusalCode?) {
        self =
            switch code {
            case .versionNotSupported, .unknownFrame, .protocolViolation, .featureNotSupported: .protocolBroken
            case .damaged, .badManifest, .badStore, .wrongModel, .wrongSchema, .probeFailed: .badData
            case .noSpace, .tooLarge, .cannotInstall, .rolledBack, .otherStore: .cannotInstall
            case .missingBase: .missingBase
            case .busy, .timedOut, .stopped: .tryAgain
            case .notTrusted, .badSignature, .replayed: .notPermitted
            case nil: .unavailable
            }
    }

    private init(_ error: InboxError) {
        self =
            switch error {
            case .mismatch, .badManifest, .badRecord, .badOrigin: .badData
            case .outOfSequence: .notPermitted
            case .noSuchStore, .noSuchGeneration, .noOlderGeneration, .noInbox: .noInput
            case .inboxInUse, .storeBusy, .held: .tryAgain
            case .occupied, .noSpace, .rolledBack, .otherStore, .ofOtherUser, .openToOthers, .file: .cannotInstall
            }
    }

    private init(_ error: CoordinatorError) {
        self =
            switch error {
            case .noSuchStore, .noSuchIndex, .notOneStore, .noExternalFile, .generationGone, .inbox: .noInput
            case .sameName, .hasNoGenerations, .hasNoFile, .released: .usage
            case .notSettled, .notAFile: .badData
            case .generationLocked, .suspended: .tryAgain
            case .file: .inputOutput
            }
    }

    private init(_ error: SnapshotError) {
        self =
            switch error {
            case .noSuchFile: .noInput
            case .folder, .notARegularFile, .notADatabase, .truncated, .corrupt: .badData
            case .missingCollation, .missingFunction, .missingModule, .hotJournal: .badData
            case .missingExternalFile, .tooManyExternalFiles, .tableIsTaken: .badData
            case .noSuchTable, .tableMustStay, .tooMuchMetadata, .partOfStore: .usage
            case .noPermission: .notPermitted
            case .busy, .cancelled: .tryAgain
            case .writeAheadLogOnReadOnlyMedium, .sqlite: .inputOutput
            case .noSpace: .cannotInstall
            case .file(let error): error.isOutOfSpace ? .cannotInstall : .inputOutput
            }
    }

    private init(_ error: OperationError) {
        self =
            switch error {
            case .noSuchStore, .noSuchCopy, .noCopyTagged: .noInput
            case .notADatabase, .unusable, .strangeFile, .corrupt, .badCopy, .incompleteCopy, .otherIdentity,
                .otherSchema,
                .otherTextEncoding:
                .badData
            case .busy, .folderBusy, .supportFolderBusy, .inUse, .stopped: .tryAgain
            case .noPermission: .notPermitted
            case .occupied, .storeInTheWay, .sharedSupportFolder, .linkedSupportFolder, .sidecar, .storeIsSidecar,
                .noSpace:
                .cannotInstall
            case .kept, .sameStore, .notDamaged, .badTag, .badMetadata, .badFileName: .usage
            case .notVerified, .sqlite: .inputOutput
            case .file(let error):
                error.errno == .noSuchFileOrDirectory ? .noInput : error.isOutOfSpace ? .cannotInstall : .inputOutput
            }
    }

    private init(_ error: MetadataError) {
        self =
            switch error {
            case .notAllowed: .usage
            case .busy, .cancelled: .tryAgain
            case .readOnly: .notPermitted
            case .unreadablePropertyList, .tableIsTaken: .badData
            case .sqlite: .inputOutput
            }
    }

    private init(_ error: IdentityError) {
        self =
            switch error {
            case .exposed, .otherOwner, .notPlain: .notPermitted
            case .damaged: .badData
            case .busy: .tryAgain
            case .notMade: .unexpected
            case .file(let error): error.isOutOfSpace ? .cannotInstall : .inputOutput
            }
    }

    private init(_ error: BaseMemoryError) {
        self =
            switch error {
            case .exposed, .otherOwner, .notPlain: .notPermitted
            case .damaged: .badData
            case .busy, .stillThere, .stopped: .tryAgain
            case .file(let error): error.isOutOfSpace ? .cannotInstall : .inputOutput
            }
    }

    private init(_ error: LinkError) {
        self =
            switch error {
            case .couldNotResolve, .refused, .timedOutConnecting, .unreachable, .notASocket, .childNotStarted,
                .childFailed, .addressInUse, .notOurAddress:
                .unavailable
            case .inTheWay: .cannotInstall
            case .notLoopback, .pathTooLong, .isATerminal, .oneWay: .usage
            case .notPermitted, .folderIsOpen, .otherUser: .notPermitted
            case .notTrusted, .notTrustedThere, .noCertificate, .noTLSThere, .onlyTLSThere: .notPermitted
            case .tlsFailed: .protocolBroken
            case .timedOut, .tooSlow, .cancelled: .tryAgain
            case .closedByPeer: .protocolBroken
            case .file(let error):
                error.errno == .noSuchFileOrDirectory ? .noInput : error.isOutOfSpace ? .cannotInstall : .inputOutput
            case .carrierFailed, .io: .inputOutput
            }
    }
}
