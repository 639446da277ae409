import DeviceTrust
import ShipCompression
import ShipLinks
import ShipProtocol
import StoreBases
import StoreFiles
import StoreInbox
import StoreOperations
import StoreSnapshot
import SystemPackage
import Testing

@testable import ShipStore
@testable import StoreServing

/// What follows from each error, as it was when each rule had a switch of its own.
struct FailureRuleTests {
    /// The exit status; the refusal, and whether the words of the error go with it; whether the shipment ends alone; the
    /// cancellation, and whether the words of the error go with it.
    private static func rule(of error: ShipmentError) -> String {
        func text(_ reason: Reason?) -> String {
            guard let reason else { return "-" }
            return "\(reason.code.unescaped) \(reason.message.unescaped == error.cause.text ? "told" : "untold")"
        }
        return "\(error.failureRule.exitStatus.rawValue), \(text(error.refusal)), "
            + "\(error.endsShipmentAlone ? "alone" : "session"), \(text(error.cancellation))"
    }

    @Test func `each error has the exit status, the refusal and the cancellation that it had`() throws {
        let (p, t, w): (FilePath, Duration, ForeignText) = ("/p/f", .seconds(1), ForeignText("words"))
        let n = try #require(StoreName("Recipes"))
        let (d, digest) = (DeviceIdentifier(ofCertificate: [1]), ContentDigest(hashing: [1]))
        let noon = try #require(Timestamp("2026-11-21T12:00:00Z"))
        let e = try Endpoint("127.0.0.1:7645")
        let failed = FileError(.write, p, .ioError)
        let full = FileError(.write, p, .noSpace)
        let gone = FileError(.open, p, .noSuchFileOrDirectory)
        let shut = FileError(.open, p, .permissionDenied)
        let (notFolder, noFolder) = (FileError(.open, p, .notDirectory), FileError(.makeFolder, p, .notDirectory))
        let probe = FailedProbe(probe: try StoreProbe("SELECT 1"), reason: .noRow)
        let omissions = try #require(Omissions(history: true, tables: [], externalFiles: []))
        let unknown = try #require(Reason(code: ForeignText("no-such-code"), message: w))
        var expected: [String: [ShipmentError]] = [:]
        expected["64, -, session, -"] = [
            .link(.notLoopback(e)), .link(.pathTooLong(p, limit: 1)), .link(.isATerminal(.reading)), .link(.oneWay),
        ]
        expected["64, cannot-install told, session, stopped told"] = [
            .trustList(.isThisDevice), .trustList(.tooMany), .sameName(n),
        ]
        expected["64, cannot-install untold, alone, stopped untold"] = [
            .serving(.sameName(n)), .serving(.hasNoGenerations(n)), .serving(.hasNoFile(n)), .serving(.released),
        ]
        expected["64, cannot-install untold, session, stopped untold"] = [
            .source(.noSuchTable(w, near: [])), .source(.tableMustStay(w, because: .isView)),
            .source(.badMetadata("more than 64 pairs")), .nothingToShip, .source(.partOfStore(p)),
            .operation(.notDamaged(p)),
            .operation(.kept(p, .otherName, .move)), .operation(.sameStore(p)), .operation(.badTag("t")),
            .operation(.badMetadata("w")), .operation(.badFileName("f")), .report(.partOfSubject(p)),
            .install(.insideInbox(p, inbox: p)), .otherSent(n, p),
        ]
        expected["65, -, session, -"] = [
            .refused(Reason(.damaged, message: "")), .refused(Reason(.badManifest, message: "")),
            .refused(Reason(.badStore, message: "")), .refused(Reason(.wrongModel, message: "")),
            .refused(Reason(.wrongSchema, message: "")), .refused(Reason(.probeFailed, message: "")),
        ]
        expected["65, bad-manifest told, session, -"] = [
            .badFile(.badMessage(type: 1, flaw: w))
        ]
        expected["65, bad-manifest told, session, bad-manifest told"] = [
            .protocolBroken(.badMessage(type: 1, flaw: w))
        ]
        expected["65, bad-store told, alone, stopped told"] = [
            .badStore(.header), .badStore(.unsound(w)), .badStore(.contradictsManifest(w)),
            .badStore(.tookTooLong(t)), .badStore(.tookTooMuchMemory(1)),
            .badStore(.unreadable(code: 1, message: w)), .badStore(.checkerSignalled(9)),
            .badStore(.checkerExited(1)), .badStore(.checkerSaidNonsense),
        ]
        expected["65, bad-store untold, alone, stopped untold"] = [
            .badStore(.file(failed)), .badStore(.file(full)),
        ]
        expected["65, cannot-install told, alone, stopped told"] = [
            .sqlite(w)
        ]
        expected["65, cannot-install told, session, stopped told"] = [
            .badHoldings(p, flaw: w)
        ]
        expected["65, cannot-install untold, alone, stopped untold"] = [
            .install(.badManifest(p, flaw: w)), .install(.badRecord(p, flaw: "w")), .install(.badOrigin(p)),
            .install(.lost(p)),
            .serving(.inWALMode(p)), .serving(.hasSidecar(p, p)), .serving(.notAFile(p)),
        ]
        expected["65, cannot-install untold, session, stopped untold"] = [
            .source(.folder(p)), .source(.notARegularFile(p)), .source(.notADatabase(p)),
            .source(.truncated(p, size: 1, expected: 2)), .source(.needsApp(.collation(w))), .source(.hotJournal(p)),
            .source(.corrupt(p, complaints: [])), .source(.tooManyExternalFiles(limit: 1)),
            .source(.tableIsTaken(w)), .model(.notARegularFile(p)), .model(.tooLarge(p, limit: 1)),
            .model(.unreadable(p, .noVersions)), .operation(.notADatabase(p)), .operation(.folder(p)),
            .operation(.strangeFile(p)),
            .operation(.corrupt(p, complaint: w)), .operation(.unusable(w)),
            .operation(.unreadablePropertyList(p)), .operation(.tableIsTaken("t")),
            .operation(.damagedOrEncrypted(p, complaint: w)),
            .operation(.needsApp(p, .function(w))), .operation(.damagedCopy(p, w)),
            .source(.sqlite(code: 1, message: w)), .operation(.sqlite(code: 1, message: w)),
            .operation(.otherIdentity(p, has: nil, copyHas: nil)), .operation(.otherSchema(p)),
            .operation(.otherTextEncoding(p, .utf8, copyHas: .utf16LittleEndian)),
            .operation(.badCopy(.badOrigin(p))), .operation(.incompleteCopy(p, omissions)),
            .memory(.damaged(p, flaw: "w")), .unknownSent(n, .damaged(p, flaw: "w")),
            .identity(.damaged(p, flaw: "w")),
        ]
        expected["65, damaged told, alone, stopped told"] = [
            .compression(.damaged(.rows)), .compression(.notCanonical), .compression(.segmentFull),
            .install(.mismatch(p)),
        ]
        expected["65, damaged told, session, -"] = [
            .badFile(.damaged(.preamble))
        ]
        expected["65, damaged told, session, damaged told"] = [
            .protocolBroken(.damaged(.preamble))
        ]
        expected["65, feature-not-supported told, alone, -"] = [
            .badFile(.featureNotSupported(w))
        ]
        expected["65, feature-not-supported told, session, -"] = [
            .badFile(.encodingNotSupported(9)), .badFile(.noCommonEncoding(part: 0)),
        ]
        expected["65, probe-failed told, alone, stopped told"] = [
            .probe(probe)
        ]
        expected["65, protocol-violation told, session, -"] = [
            .badFile(.truncated), .badFile(.noEnd), .badFile(.wrongMagic), .badFile(.badPreamble),
            .badFile(.wrongRole), .badFile(.payloadTooLong(type: 1, length: 2, limit: 1)), .badFile(.outOfOrder(1)),
            .badFile(.inflatedTooLong(type: 1, limit: 1)),
            .badFile(.badPart("its length")), .badFile(.badBlock("its form")), .badFile(.badSignatureFrame),
            .badFile(.incomplete), .link(.file(FileError(.open, p, .isDirectory))),
        ]
        expected["65, unknown-frame told, session, -"] = [
            .badFile(.unknownFrame(9))
        ]
        expected["65, version-not-supported told, session, -"] = [
            .badFile(.versionNotSupported(1...1))
        ]
        expected["65, wrong-model told, alone, stopped told"] = [
            .unwelcome(.noModel)
        ]
        expected["65, wrong-schema told, alone, stopped told"] = [
            .unwelcome(.otherSchema(digest)), .unwelcome(.otherUserVersion(1, required: 2...3)),
        ]
        expected["66, -, session, -"] = [
            .link(.file(gone)), .link(.file(notFolder)),
        ]
        expected["66, cannot-install told, alone, stopped told"] = [
            .install(.noInbox(p)), .install(.notAFolder(p)), .install(.noSuchStore(n)),
            .install(.noSuchGeneration(n, number: 1)),
            .install(.noOlderGeneration(n)),
        ]
        expected["66, cannot-install told, session, stopped told"] = [
            .notRemembered(n), .noSuchPeer(w, near: []),
        ]
        expected["66, cannot-install untold, alone, stopped untold"] = [
            .serving(.noSuchStore("s")), .serving(.noSuchIndex(1, count: 1)), .serving(.notOneStore(count: 2)),
            .serving(.generationGone(n, number: 1)), .serving(.inbox(.badOrigin(p))),
            .install(.file(gone)), .serving(.file(gone)), .file(gone), .file(notFolder),
        ]
        expected["66, cannot-install untold, session, stopped untold"] = [
            .source(.noSuchFile(p)), .model(.notThere(p)), .operation(.noSuchStore(p)), .operation(.noSuchCopy(p)),
            .operation(.noCopyTagged("t", in: p)), .operation(.file(gone)), .source(.file(gone)),
            .memory(.file(gone)), .identity(.file(gone)), .model(.file(gone)), .operation(.file(notFolder)),
        ]
        expected["69, -, session, -"] = [
            .link(.couldNotResolve(host: "h", reason: "r")), .link(.refused(e)), .link(.timedOutConnecting(e)),
            .link(.unreachable(e, .networkUnreachable)), .link(.addressInUse(e)), .link(.notOurAddress(e)),
            .link(.notASocket(p)), .link(.childNotStarted(.ioError)), .link(.childFailed(.signalled(9))),
            .refused(unknown), .givenUp(unknown),
        ]
        expected["70, cannot-install untold, alone, stopped untold"] = [
            .unforeseen(w)
        ]
        expected["70, cannot-install untold, session, stopped untold"] = [
            .identity(.notMade)
        ]
        expected["72, -, session, -"] = [
            .refused(Reason(.missingBase, message: ""))
        ]
        expected["72, cannot-install told, session, stopped told"] = [
            .notWhole(p, n, base: digest)
        ]
        expected["72, missing-base told, alone, stopped told"] = [
            .missingBase(n, digest)
        ]
        expected["73, -, session, -"] = [
            .link(.inTheWay(p)), .link(.file(full)), .link(.file(noFolder)), .refused(Reason(.tooLarge, message: "")),
            .refused(Reason(.noSpace, message: "")), .refused(Reason(.cannotInstall, message: "")),
            .refused(Reason(.held, message: "")), .refused(Reason(.rolledBack, message: "")),
            .refused(Reason(.otherStore, message: "")),
        ]
        expected["73, cannot-install told, alone, stopped told"] = [
            .install(.ofOtherUser(p, 1)), .install(.openToOthers(p)), .install(.noSymbolicLinks(p)),
            .install(.hasGenerations(n, current: 1)), .install(.inboxRemoved(p)),
        ]
        expected["73, cannot-install untold, alone, stopped untold"] = [
            .badStore(.checkerNotStarted(1)), .install(.occupied(p)), .install(.file(noFolder)),
        ]
        expected["77, cannot-install untold, alone, stopped untold"] = [
            .install(.file(shut)), .serving(.file(shut)), .file(shut), .install(.readOnly(p)),
        ]
        expected["73, cannot-install untold, session, stopped untold"] = [
            .source(.noSpace(folder: p, needed: 1, free: 0)), .source(.file(full)), .operation(.occupied(p)),
            .operation(.storeInTheWay(p)), .operation(.sharedSupportFolder(p, with: p)),
            .operation(.linkedSupportFolder(p)), .operation(.sidecar(p)), .operation(.storeIsSidecar(p, of: p)),
            .source(.noRoom(folder: p, .quota)), .operation(.noSpace(folder: p, .disk)),
            .operation(.file(full)), .report(.inTheWay(p)), .memory(.file(full)),
            .identity(.file(full)), .model(.file(full)), .operation(.file(noFolder)),
        ]
        expected["73, no-space told, alone, stopped told"] = [
            .install(.noSpace(needed: 1, free: 0))
        ]
        expected["73, no-space untold, alone, stopped untold"] = [
            .install(.file(full)), .file(full),
        ]
        expected["73, other-store told, alone, stopped told"] = [
            .install(.otherStore(n, .isEmpty))
        ]
        expected["73, held told, alone, stopped told"] = [
            .install(.onHold(n, since: noon))
        ]
        expected["73, rolled-back told, alone, stopped told"] = [
            .install(.rolledBack(n, number: 1))
        ]
        expected["73, too-large told, alone, stopped told"] = [
            .tooMuch(.storeSize(2, allowed: 1)), .tooMuch(.externalFileCount(2, allowed: 1)),
            .tooMuch(.externalFilesSize(2, allowed: 1)),
        ]
        expected["74, -, session, -"] = [
            .link(.file(failed)), .link(.carrierFailed(w)), .link(.io(.ioError)),
        ]
        expected["74, cannot-install untold, alone, stopped untold"] = [
            .serving(.file(failed)), .file(failed), .install(.file(failed)),
        ]
        expected["74, cannot-install untold, session, stopped untold"] = [
            .source(.writeAheadLogOnReadOnlyMedium(p)), .source(.sqlite(code: 10, message: w)),
            .source(.file(failed)), .model(.file(failed)),
            .operation(.notVerified(p)), .operation(.file(failed)), .operation(.sqlite(code: 10, message: w)),
            .memory(.file(failed)), .identity(.file(failed)),
        ]
        expected["75, -, session, -"] = [
            .link(.cancelled), .link(.file(FileError(.open, p, .tooManyOpenFiles))),
            .refused(Reason(.busy, message: "")), .refused(Reason(.timedOut, message: "")),
            .refused(Reason(.stopped, message: "")), .givenUp(Reason(.stopped, message: "")),
        ]
        let none = FileError(.open, p, .tooManyOpenFiles)
        expected["75, busy untold, alone, stopped untold"] = [
            .install(.file(none)), .file(none), .badStore(.file(none)), .identity(.file(none)),
            .badStore(.checkerNotStarted(Errno.resourceTemporarilyUnavailable.rawValue)),
        ]
        expected["75, busy told, alone, stopped told"] = [
            .install(.storeBusy(n, waited: t))
        ]
        expected["75, cannot-install told, alone, stopped told"] = [
            .install(.inboxInUse(p, process: nil)), .install(.held(n, numbers: [1])),
        ]
        expected["75, cannot-install told, session, stopped told"] = [
            .pairing(.over)
        ]
        expected["75, cannot-install untold, alone, stopped untold"] = [
            .serving(.generationLocked(n)), .serving(.suspended),
        ]
        expected["75, cannot-install untold, session, stopped untold"] = [
            .source(.busy(p, waited: t)), .source(.cancelled), .operation(.busy(p, waited: t)),
            .operation(.folderBusy(p, waited: t)), .operation(.supportFolderBusy(p, waited: t)),
            .operation(.inUse(p, waited: t)), .operation(.stopped), .memory(.busy(p)), .memory(.stillThere(p)),
            .memory(.stopped), .identity(.busy(p)), .identity(.stopped),
        ]
        expected["75, damaged told, alone, stopped told"] = [
            .compression(.sourceChanged(part: 0)), .compression(.outOfMemory),
        ]
        expected["75, stopped told, session, stopped told"] = [
            .stopped
        ]
        expected["75, timed-out told, session, timed-out told"] = [
            .link(.timedOut(.reading)), .link(.tooSlow(bytesPerSecond: 1)), .overdue(.manifest(t)),
            .overdue(.answer(t)), .overdue(.receipt(t)),
        ]
        expected["76, -, session, -"] = [
            .link(.tlsFailed("w")), .link(.closedByPeer), .refused(Reason(.versionNotSupported, message: "")),
            .refused(Reason(.unknownFrame, message: "")), .refused(Reason(.protocolViolation, message: "")),
            .refused(Reason(.featureNotSupported, message: "")), .cannotAnswer,
        ]
        expected["76, cannot-install told, session, stopped told"] = [
            .pairing(.badMessage)
        ]
        expected["76, feature-not-supported told, alone, feature-not-supported told"] = [
            .protocolBroken(.featureNotSupported(w))
        ]
        expected["76, feature-not-supported told, session, feature-not-supported told"] = [
            .protocolBroken(.encodingNotSupported(9)), .protocolBroken(.noCommonEncoding(part: 0)),
        ]
        expected["76, protocol-violation told, session, -"] = [
            .protocolBroken(.truncated)
        ]
        expected["76, protocol-violation told, session, protocol-violation told"] = [
            .protocolBroken(.noEnd), .protocolBroken(.wrongMagic), .protocolBroken(.badPreamble),
            .protocolBroken(.wrongRole), .protocolBroken(.payloadTooLong(type: 1, length: 2, limit: 1)),
            .protocolBroken(.inflatedTooLong(type: 1, limit: 1)),
            .protocolBroken(.outOfOrder(1)), .protocolBroken(.badPart("its length")),
            .protocolBroken(.badBlock("its form")),
            .protocolBroken(.badSignatureFrame), .protocolBroken(.incomplete),
        ]
        expected["76, unknown-frame told, session, unknown-frame told"] = [
            .protocolBroken(.unknownFrame(9))
        ]
        expected["76, version-not-supported told, session, version-not-supported told"] = [
            .protocolBroken(.versionNotSupported(1...1))
        ]
        expected["77, -, session, -"] = [
            .link(.file(shut)), .link(.notPermitted(e)), .link(.folderIsOpen(p)), .link(.notTrustedThere(d)),
            .link(.noTLSThere),
            .link(.onlyTLSThere), .link(.otherUser(1)), .refused(Reason(.notTrusted, message: "")),
            .refused(Reason(.badSignature, message: "")), .refused(Reason(.replayed, message: "")),
        ]
        expected["77, bad-signature told, session, stopped told"] = [
            .signature(.wrong), .signature(.badCertificate),
        ]
        expected["77, cannot-install told, session, stopped told"] = [
            .pairing(.wrongCode), .pairing(.notOpen),
        ]
        expected["77, cannot-install untold, session, stopped untold"] = [
            .operation(.file(shut)), .source(.noPermission(p)), .operation(.noPermission(p)), .memory(.exposed(p, [])),
            .memory(.otherOwner(p, user: 1)), .memory(.notPlain(p)), .identity(.exposed(p, [])),
            .identity(.otherOwner(p, user: 1)), .identity(.notPlain(p)),
        ]
        expected["77, not-trusted told, alone, not-trusted told"] = [
            .install(.outOfSequence(n, .noDevice)), .install(.outOfSequence(n, .otherDevice)),
            .notAllowed(n, .sender), .unsigned(n, onStandardInput: false), .unknownSigner(d),
        ]
        expected["77, not-trusted told, session, not-trusted told"] = [.link(.noCertificate)]
        expected["77, not-trusted untold, session, not-trusted untold"] = [.link(.notTrusted(d)), .noStoreFor(d)]
        expected["77, replayed told, alone, stopped told"] = [
            .install(.outOfSequence(n, .replayed(counter: 1, highest: 2))),
            .install(.outOfSequence(n, .tooFarAhead(counter: 2, highest: 1))),
            .install(.outOfSequence(n, .noCounter)), .install(.outOfSequence(n, .notCounted)),
        ]
        expected["79, cannot-install told, session, stopped told"] = [
            .serving(.tooOld(n, CopyAge(age: nil, isConnected: false), limit: .seconds(1)))
        ]
        expected["78, cannot-install untold, session, stopped untold"] = [
            .install(.newerFormat(p, 2)), .identity(.newerFormat(p, 2)), .memory(.newerFormat(p, 3)),
        ]
        for (rule, errors) in expected {
            for error in errors { #expect(Self.rule(of: error) == rule, "\(error)") }
        }
    }

    @Test func `an error that the program does not foresee ends it with 70`() {
        struct Unheard: Error {}
        #expect(ShipmentError(Unheard()).failureRule.exitStatus.rawValue == 70)
    }

    @Test func `a failure to clean up after keeps the exit status of the failure itself`() {
        let leftovers = Leftovers(safetyCopy: "/p/copy", externalFiles: [])
        #expect(ShipmentError.unfinished(.stopped, leftovers).failureRule == ShipmentError.stopped.failureRule)
    }
}
