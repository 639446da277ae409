import Foundation
import ShipStore
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct `A model of a reader` {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private static let hash = Data(0..<32)
    private static let other = Data(32..<64)

    /// As the model compiler writes it.
    private static var versionInfo: [String: Any] {
        [
            "NSManagedObjectModel_CurrentVersionName": "Recipes 2",
            "NSManagedObjectModel_VersionHashes": [
                "Recipes": ["Recipe": hash], "Recipes 2": ["Recipe": other, "Photo": hash], "Draft": ["Recipe": other],
            ],
        ]
    }

    private func write(_ data: Data, _ name: String) throws -> FilePath {
        let path = scratch.path.appending(name)
        try data.write(to: URL(fileURLWithPath: path.string))
        return path
    }

    private func error(of path: FilePath) -> ModelFileError? {
        do throws(ModelFileError) {
            _ = try EntityModel.all(in: path)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func `a .momd lists its versions, the current one first`(format: PropertyListSerialization.PropertyListFormat)
        throws
    {
        let folder = try scratch.folder("Recipes.momd")
        let data = try PropertyListSerialization.data(fromPropertyList: Self.versionInfo, format: format, options: 0)
        let list = try write(data, "Recipes.momd/VersionInfo.plist")
        for path in [folder, list] {
            let models = try EntityModel.all(in: path)
            #expect(models.map(\.name) == ["Recipes 2", "Draft", "Recipes"])
            #expect(models.first?.hashes == ["Recipe": Array(Self.other), "Photo": Array(Self.hash)])
        }
    }

    @Test func `JSON lists one version, by itself or as a manifest does`() throws {
        let hashes = #"{"Recipe": "\#(Self.hash.base64EncodedString())"}"#
        for text in [hashes, "\n " + hashes, #"{"entityVersionHashes": \#(hashes)}"#] {
            let models = try EntityModel.all(in: try write(Data(text.utf8), "recipes.json"))
            #expect(models == [EntityModel(name: "recipes.json", hashes: ["Recipe": Array(Self.hash)])])
        }
    }

    @Test func `what is no model is said to be none`() throws {
        let short = Data(0..<31)
        let mom = try PropertyListSerialization.data(
            fromPropertyList: ["$archiver": "NSKeyedArchiver"], format: .binary, options: 0)
        let cut = try PropertyListSerialization.data(fromPropertyList: Self.versionInfo, format: .binary, options: 0)
        let shortHash = try PropertyListSerialization.data(
            fromPropertyList: ["NSManagedObjectModel_VersionHashes": ["1": ["Recipe": short]]], format: .xml, options: 0
        )
        let noEntities = try PropertyListSerialization.data(
            fromPropertyList: ["NSManagedObjectModel_VersionHashes": ["1": [String: Data]()]], format: .xml, options: 0)
        let textHash = try PropertyListSerialization.data(
            fromPropertyList: ["NSManagedObjectModel_VersionHashes": ["1": ["Recipe": "text"]]], format: .xml,
            options: 0)
        for (data, flaw) in [
            (Data(), .noPropertyList), (Data("hello".utf8), .noPropertyList),
            (cut.prefix(cut.count / 2), .noPropertyList),
            (Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 7919) }), .noPropertyList), (mom, .noVersions),
            (shortHash, .badHash(entity: "Recipe")), (textHash, .badHash(entity: "Recipe")),
            (noEntities, .entityCount(0)),
            (Data("{".utf8), .noJSONOfHashes), (Data(#"{"Recipe": 1}"#.utf8), .noJSONOfHashes),
            (Data("{}".utf8), .entityCount(0)), (Data(#"{"Recipe": "AAAA"}"#.utf8), .badHash(entity: "Recipe")),
            (Data(#"{"Recipe": "*"}"#.utf8), .badHash(entity: "Recipe")),
        ] as [(Data, ModelFileError.Flaw)] {
            let path = try write(data, "model")
            #expect(error(of: path) == .unreadable(path, flaw), "\(data.prefix(40))")
        }
    }

    @Test func `what is not there, not a file, or too large is not read`() throws {
        let nowhere = scratch.path.appending("nowhere.momd")
        #expect(error(of: nowhere) == .notThere(nowhere))
        let folder = try scratch.folder("Empty.momd")
        #expect(error(of: folder) == .notThere(folder.appending("VersionInfo.plist")))

        let model = try write(Data("{}".utf8), "real.json")
        let link = scratch.path.appending("link.json")
        try PlatformCalls.symbolicLink(at: link, to: model)
        #expect(error(of: link) == .notARegularFile(link))
        let inside = try scratch.folder("Linked.momd").appending("VersionInfo.plist")
        try PlatformCalls.symbolicLink(at: inside, to: model)
        #expect(error(of: inside.removingLastComponent()) == .notARegularFile(inside))
        let pipe = try scratch.folder("Pipe.momd").appending("VersionInfo.plist")
        try #require(mkfifo(pipe.string, 0o600) == 0)
        #expect(error(of: pipe.removingLastComponent()) == .notARegularFile(pipe))
        #expect(error(of: pipe) == .notARegularFile(pipe))

        let large = try write(Data(), "large.json")
        try FileHandle(forWritingTo: URL(fileURLWithPath: large.string)).truncate(atOffset: 4 * 1024 * 1024 + 1)
        #expect(error(of: large) == .tooLarge(large, limit: 4 * 1024 * 1024))
    }
}
