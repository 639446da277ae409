// This module is the library's public face: an import of it shows the public values of the stages too.
@_exported public import DeviceTrust
@_exported public import ShipCompression
@_exported public import ShipLinks
@_exported public import ShipProtocol
@_exported public import StoreBases
@_exported public import StoreFiles
@_exported public import StoreInbox
@_exported public import StoreOperations
@_exported public import StoreServing
@_exported public import StoreSnapshot

// Paths are its values.
@_exported public import struct SystemPackage.FilePath
