// swift-tools-version: 6.2

import PackageDescription

// A package of a user's, which links of ship-store what an app links, and as an app does: without traits.
let package = Package(
    name: "app",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "ship-store", path: "../..", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "app-peer",
            dependencies: [
                .product(name: "ShipStore", package: "ship-store"), .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            linkerSettings: [
                .unsafeFlags(["-use-ld=lld", "-Xlinker", "--no-export-dynamic"], .when(platforms: [.linux]))
            ])
    ]
)
