import DeviceTrust
import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing
import X509

@Suite struct `A device's folder` {
    @Test func `holds the identity, made at first need and the same from then on`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("a/b/ship-store"))
        let first = try folder.identity()
        #expect(try folder.identity().id == first.id)
        #expect(try PlatformCalls.status(of: folder.path).permissions == .ownerReadWriteExecute)
        #expect(try PlatformCalls.status(of: folder.path.appending("identity.pem")).permissions == .ownerReadWrite)
        #expect(try Folder.names(in: folder.path) == ["identity.pem"])
        #expect(try DeviceFolder(at: scratch.path.appending("other")).identity().id != first.id)
    }

    @Test func `has a certificate that other programs can read`() async throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        let id = try folder.identity().id
        let file = folder.path.appending("identity.pem").string
        let told = try await ChildProgram(
            "/usr/bin/openssl", ["x509", "-in", file, "-noout", "-fingerprint", "-sha256", "-subject", "-enddate"]
        ).wait()
        let hex = id.bytes.map { String(format: "%02X", $0) }.joined(separator: ":")
        #expect(
            told.lines == [
                "sha256 Fingerprint=\(hex)", "subject=CN = ship-store device", "notAfter=Dec 31 23:59:59 9999 GMT",
            ])
        let checked = try await ChildProgram("/usr/bin/openssl", ["pkey", "-in", file, "-check", "-noout"]).wait()
        #expect(checked.status == .exited(0))
    }

    @Test func `gets one identity when many make it at once`() async throws {
        for _ in 0..<20 {
            let scratch = try ScratchFolder()
            let folder = scratch.path.appending("ship-store")
            let ids = try await withThrowingTaskGroup(of: DeviceIdentifier.self) { group in
                for _ in 0..<8 {
                    group.addTask(executorPreference: TestThreads.shared) { () async throws -> DeviceIdentifier in
                        try DeviceFolder(at: folder).identity().id
                    }
                }
                var ids: Set<DeviceIdentifier> = []
                for try await id in group { ids.insert(id) }
                return ids
            }
            #expect(ids.count == 1)
            #expect(try Folder.names(in: folder) == ["identity.pem"])
        }
    }

    @Test(arguments: [FilePermissions.groupRead, .otherRead, .groupWrite, .otherWrite, .otherExecute])
    func `is refused when others can look at the key`(permission: FilePermissions) throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        _ = try folder.identity()
        let file = folder.path.appending("identity.pem")
        try PlatformCalls.changeMode(of: file, to: [.ownerReadWrite, permission])
        #expect(throws: IdentityError.exposed(file, [.ownerReadWrite, permission])) { try folder.identity() }
        try PlatformCalls.changeMode(of: file, to: .ownerReadWrite)
        _ = try folder.identity()
        try PlatformCalls.changeMode(of: folder.path, to: [.ownerReadWriteExecute, permission])
        #expect(throws: IdentityError.exposed(folder.path, [.ownerReadWriteExecute, permission])) {
            try folder.identity()
        }
        #expect(throws: IdentityError.self) { try folder.trustList() }
    }

    @Test func `is refused when the key is a link`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        _ = try folder.identity()
        let (file, elsewhere) = (folder.path.appending("identity.pem"), scratch.path.appending("elsewhere"))
        try PlatformCalls.hardLink(file, as: elsewhere)
        #expect(throws: IdentityError.notPlain(file)) { try folder.identity() }
        try PlatformCalls.removeFile(file)
        try PlatformCalls.symbolicLink(at: file, to: elsewhere)
        #expect(throws: IdentityError.notPlain(file)) { try folder.identity() }
        let alias = scratch.path.appending("alias")
        try PlatformCalls.symbolicLink(at: alias, to: folder.path)
        #expect(throws: IdentityError.notPlain(alias)) { try DeviceFolder(at: alias).identity() }
        #expect(throws: IdentityError.notPlain(elsewhere)) { try DeviceFolder(at: elsewhere).identity() }
    }

    @Test(.enabled(if: PlatformCalls.effectiveUser == 0, "only root can give a file away"))
    func `is refused when it belongs to somebody else`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        _ = try folder.identity()
        let file = folder.path.appending("identity.pem")
        try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: file.string)
        #expect(throws: IdentityError.otherOwner(file, user: 65_534)) { try folder.identity() }
        try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: file.string)
        try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: folder.path.string)
        #expect(throws: IdentityError.otherOwner(folder.path, user: 65_534)) { try folder.identity() }
    }

    @Test func `says what is wrong with a damaged identity, and nothing of the key`() throws {
        let scratch = try ScratchFolder()
        let (one, two) = (DeviceFolder(at: scratch.path.appending("1")), DeviceFolder(at: scratch.path.appending("2")))
        let text = try one.identity().pem
        let other = try two.identity().pem
        let file = one.path.appending("identity.pem")
        let certificate = try #require(text.range(of: "-----BEGIN CERTIFICATE-----"))
        let ofOther = try #require(other.range(of: "-----BEGIN CERTIFICATE-----"))
        let cases: [(String, String)] = [
            ("", "it holds no certificate"), ("hello", "it holds no certificate"),
            (String(text[..<certificate.lowerBound]), "it holds no certificate"),
            (String(text[certificate.lowerBound...]), "it holds no P-256 key"),
            (
                String(text[..<certificate.lowerBound] + other[ofOther.lowerBound...]),
                "its key and its certificate do not belong together"
            ),
            (text.replacing("BEGIN PRIVATE", with: "BEGIN"), "it is not in PEM"),
        ]
        for (text, flaw) in cases {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file.string))
            #expect(throws: IdentityError.damaged(file, flaw: flaw), "\(flaw)") { try one.identity() }
        }
        let identity = try two.identity()
        for shown in ["\(identity)", String(reflecting: identity)] { #expect(!shown.contains("key")) }
        var dumped = ""
        dump(identity, to: &dumped)
        #expect(!dumped.contains("key"))
    }
}
