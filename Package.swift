// swift-tools-version: 6.2

import PackageDescription

#if canImport(Glibc)
    import Glibc
#endif

/// Every target is compiled in the same way: Swift 6 mode, each import as narrow as its use, no warnings.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// How the program is linked on Linux. Swift's own flags for a static runtime export every symbol, so that nothing of it is left out,
/// and gold, the default, lays the parts out so that twice as much of the program is resident as it runs: with lld, and no symbols for
/// others, `receive` at rest takes 24 MiB in place of 34. A third of that are relocations, which glibc reads packed from 2.36 on.
let linked: [LinkerSetting] = {
    var flags = ["-use-ld=lld", "-Xlinker", "--no-export-dynamic"]
    #if canImport(Glibc)
        var name = [CChar](repeating: 0, count: 32)
        confstr(Int32(_CS_GNU_LIBC_VERSION), &name, name.count)
        // "glibc 2.36"
        let version = name.map { UInt8(bitPattern: $0) }.split { !(48...57).contains($0) }.compactMap {
            Int(String(decoding: $0, as: UTF8.self))
        }
        if !version.lexicographicallyPrecedes([2, 36]) {
            flags += ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]
        }
    #endif
    return [.unsafeFlags(flags, .when(platforms: [.linux], configuration: .release))]
}()

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let swiftASN1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")

func target(_ name: String, _ dependencies: [Target.Dependency], _ settings: [SwiftSetting] = strict) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: [.target(name: name), "TestSupport"] + dependencies, swiftSettings: strict)
}

/// libdeflate is on where it is a package away; apps have zlib, which is on every system of theirs.
let defaultTraits: Set<String> = {
    #if os(Linux)
        ["Libdeflate"]
    #else
        []
    #endif
}()

let package = Package(
    name: "ship-store",
    platforms: [.macOS(.v15), .iOS(.v18), .watchOS(.v11)],
    products: [
        // What an app links: no sockets, no child processes, no event loop.
        .library(name: "ShipStore", targets: ["ShipStore"]),
        .library(name: "ShipStoreTransfers", targets: ["ShipStoreTransfers"]),
        .library(name: "ShipStoreNetwork", targets: ["ShipStoreNetwork"]),
        .executable(name: "ship-store", targets: ["ship-store"]),
    ],
    traits: [
        .trait(name: "Libdeflate", description: "Deflate by libdeflate: fewer bytes, in less time, than by zlib."),
        .default(enabledTraits: defaultTraits),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: [
        // Foundation, as far as it goes without the rest of it; the C library, whatever its name is here.
        target("EssentialFoundation", []),
        target("CLibrary", []),

        // Bytes and the order of events: pure.
        .systemLibrary(name: "CDeflate", providers: [.apt(["libdeflate-dev"]), .brew(["libdeflate"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        target("ShipProtocol", ["EssentialFoundation", "CLibrary", "CZlib", crypto, system]),
        target("StoreFormat", ["CLibrary"]),

        // The stages. None imports another; StoreFiles holds the platform's calls for all of them, StoreInbox says where
        // things are in an inbox, to those who install and those who read; CoreDataReading what a Core Data store says of
        // itself, to those who take copies and those who check them; DeviceTrust who is who, to links and sessions.
        .target(name: "CPlatform"),
        .target(name: "CSQLiteHardening", dependencies: [sqlite]),
        target(
            "StoreFiles",
            ["EssentialFoundation", "CLibrary", "ShipProtocol", "StoreFormat", "CPlatform", crypto, system]),
        target("CoreDataReading", ["EssentialFoundation", "ShipProtocol"]),
        target(
            "StoreSnapshot",
            [
                "EssentialFoundation", "ShipProtocol", "StoreFormat", "StoreFiles", "CoreDataReading",
                "CSQLiteHardening", grdb, sqlite, system,
            ]),
        target(
            "ShipCompression",
            ["ShipProtocol", .target(name: "CDeflate", condition: .when(traits: ["Libdeflate"])), "CZlib"]),
        target("StoreEncoding", ["ShipCompression", "ShipProtocol", "StoreFormat", crypto, system]),
        target("ShipLinks", ["DeviceTrust", "ShipProtocol", "StoreFiles", system]),
        target(
            "ShipTransport",
            [
                "EssentialFoundation", "DeviceTrust", "ShipLinks", "ShipProtocol", "StoreFiles", crypto, nioCore,
                nioHTTP1, nioPosix, nioSSL, nioTLS, subprocess, system,
            ]),
        target("DeviceTrust", ["EssentialFoundation", "ShipProtocol", "StoreFiles", crypto, swiftASN1, system, x509]),
        target("StoreBases", ["EssentialFoundation", "ShipProtocol", "StoreFiles", system]),
        target("StoreInbox", ["EssentialFoundation", "ShipProtocol", "StoreFiles", system]),
        target("StoreInstall", ["EssentialFoundation", "ShipProtocol", "StoreFiles", "StoreInbox", system]),
        target(
            "StoreServing",
            [
                "EssentialFoundation", "ShipProtocol", "StoreFormat", "StoreFiles", "StoreInbox", "CoreDataReading",
                "CSQLiteHardening", grdb, sqlite, system,
            ]),

        target(
            "StoreOperations",
            [
                "EssentialFoundation", "ShipProtocol", "StoreFormat", "StoreFiles", "StoreInbox", "CoreDataReading",
                "CSQLiteHardening", grdb, sqlite, system,
            ]),

        // The composition and the command line.
        target(
            "ShipStore",
            [
                "EssentialFoundation", "ShipProtocol", "StoreFormat", "StoreFiles", "StoreSnapshot", "ShipCompression",
                "StoreEncoding", "ShipLinks",
                "DeviceTrust", "StoreBases", "StoreInbox", "StoreInstall", "StoreServing", "StoreOperations",
                "CoreDataReading", grdb, system,
            ]),
        target("ShipStoreTransfers", ["EssentialFoundation", "ShipStore", system]),
        target(
            "ShipStoreNetwork",
            [
                "EssentialFoundation", "DeviceTrust", "ShipProtocol", "ShipStore", "ShipTransport", "StoreFiles",
                "StoreServing",
                "StoreSnapshot", crypto, subprocess, system,
            ]),
        .executableTarget(
            name: "ship-store",
            dependencies: [
                "CSQLiteHardening", "EssentialFoundation", "ShipStore", "ShipStoreNetwork", "ShipTransport",
                "StoreFiles", argumentParser,
                grdb, subprocess,
                system,
            ],
            swiftSettings: strict, linkerSettings: linked),

        // A reader that reacts to changes, as an app would; and what measures readers.
        .executableTarget(
            name: "reader-example", dependencies: ["ShipStore", grdb, system], swiftSettings: strict),
        .executableTarget(
            name: "serving-bench",
            dependencies: ["ShipStore", "ShipStoreNetwork", "StoreFiles", grdb, subprocess, system],
            path: "Benchmarks/serving", swiftSettings: strict),
        // What measures the codec.
        .executableTarget(
            name: "codec-bench",
            dependencies: [
                "StoreEncoding", "StoreFiles", "StoreFormat", "StoreSnapshot", "CZlib",
                argumentParser, grdb, system,
            ],
            path: "Benchmarks/codec", swiftSettings: strict),

        // What README.md shows; as in another package, only what is public is there.
        .target(
            name: "ReadmeSample", dependencies: ["ShipStore", "ShipStoreNetwork", grdb],
            path: "Tests/ReadmeSample", packageAccess: false),
        // What the article on shipping to a watch shows.
        .target(
            name: "TransferSample", dependencies: ["ShipStore", "ShipStoreTransfers", grdb],
            path: "Tests/TransferSample", packageAccess: false),

        // Tests, one target for each of the above.
        .target(
            name: "TestSupport",
            dependencies: [
                "CLibrary", "ShipProtocol", "StoreEncoding", "StoreFiles", "StoreFormat", grdb, sqlite, system,
            ],
            path: "Tests/TestSupport", swiftSettings: strict),
        // Values and stores that nobody chose. The fuzzer of the encoder has the values, too.
        .target(
            name: "RandomValues", dependencies: ["StoreFormat", "CZlib"], path: "Tests/RandomValues",
            swiftSettings: strict),
        .target(
            name: "RandomStores", dependencies: ["RandomValues", "StoreFormat", "TestSupport", grdb, sqlite, system],
            path: "Tests/RandomStores", swiftSettings: strict),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "ship-store", "reader-example", "DeviceTrust", "RandomStores", "ShipProtocol", "ShipTransport",
                "StoreFiles",
                "TestSupport", grdb, system,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "ship-store", "ShipStore", "ShipStoreNetwork", "StoreFiles", "StoreInbox", "StoreInstall",
                "TestSupport",
                grdb, system,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "CoreDataReading", "DeviceTrust", "ShipCompression", "ShipProtocol", "StoreEncoding", "StoreFormat",
                "StoreSnapshot",
                "RandomValues", "TestSupport", grdb, system,
            ],
            path: "Tests/Fuzz", exclude: ["README.md", "build.sh", "corpus"], swiftSettings: strict),
        tests(of: "CoreDataReading", [system]),
        tests(of: "DeviceTrust", ["ShipProtocol", "StoreFiles", crypto, swiftASN1, system, x509]),
        tests(of: "ShipProtocol", ["StoreFiles", system]),
        tests(of: "ShipCompression", ["ShipProtocol", "StoreEncoding", "StoreFiles", "StoreFormat", "CZlib"]),
        tests(
            of: "StoreEncoding",
            [
                "RandomStores", "RandomValues", "ShipCompression", "ShipProtocol", "StoreFiles", "StoreFormat",
                "StoreSnapshot", "CZlib", grdb, system,
            ]),
        tests(
            of: "ShipStore",
            [
                "ship-store", "DeviceTrust", "ShipCompression", "ShipProtocol", "StoreEncoding", "ShipStoreNetwork",
                "ShipLinks", "ShipTransport", "StoreBases", "StoreFiles", "StoreInbox", "StoreInstall",
                "StoreOperations",
                "StoreServing", "StoreSnapshot", crypto, grdb, sqlite, system,
            ]),
        tests(of: "ShipStoreTransfers", ["ShipStore", "StoreFiles", "TransferSample", grdb, system]),
        tests(of: "ShipLinks", ["ShipProtocol"]),
        tests(
            of: "ShipTransport",
            [
                "DeviceTrust", "EssentialFoundation", "ShipProtocol", "StoreFiles", crypto, nioCore, nioPosix,
                swiftASN1, system, x509,
            ]),
        tests(of: "StoreBases", ["ShipProtocol", "StoreFiles", system]),
        tests(of: "StoreFiles", ["ShipProtocol", system]),
        tests(of: "StoreFormat", ["ShipProtocol", "StoreFiles", grdb, system]),
        tests(of: "StoreInstall", ["ShipProtocol", "StoreFiles", "StoreInbox", system]),
        tests(of: "StoreOperations", ["ShipProtocol", "StoreFiles", grdb, system]),
        tests(
            of: "StoreServing",
            ["RandomStores", "ShipProtocol", "StoreFiles", "StoreInbox", "StoreInstall", grdb, system]),
        tests(of: "StoreSnapshot", ["CLibrary", "ShipProtocol", "StoreFiles", "StoreFormat", grdb, sqlite, system]),
    ]
)
