import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// What an inbox remembers of the publications that it follows.
@Suite struct PublicationRecordTests {
    private let inbox: InboxContent

    init() throws { inbox = try InboxContent() }

    private var depot: FilePath { inbox.root.appending(".ship-store") }

    @Test func `each of several that are followed at once keeps its own record`() async throws {
        let folder = try inbox.installer().folder
        try await withThrowingTaskGroup { group in
            for place in 0..<UInt8(6) {
                group.addTask {
                    let digest = ContentDigest(hashing: [place])
                    for number in 1...UInt64(20) {
                        let record = PublicationRecord(
                            publication: digest, publisher: digest, former: [], number: number, last: nil,
                            certificate: [place])
                        try folder.write(record, at: "\(place)")
                        #expect(try folder.publicationRecord(at: "\(place)") == record)
                    }
                }
            }
            try await group.waitForAll()
        }
        let names = try Folder.names(in: depot)
        #expect(names.count == 8 && names.filter { $0.hasSuffix(".json") }.count == 6, "\(names)")
    }

    @Test func `what a killed receiver left of a record goes when the next one starts`() throws {
        _ = try inbox.installer()
        for name in [".published-new-8A2E2A4C-6E0B-4C0B-9D67-0F6B3B1B2C11", ".published-new-1", ".failed.new"] {
            _ = try OpenFile.creating(depot.appending(name))
        }
        _ = try inbox.installer()
        // A name of another form is somebody else's.
        #expect(try Folder.names(in: depot) == [".format", ".lock", ".published-new-1"])
    }
}
