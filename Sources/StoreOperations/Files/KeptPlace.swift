public import ShipProtocol
public import SystemPackage

/// The place of a file that never changes: an inbox, or a folder of kept copies. Only the commands for these may change or remove it.
public enum KeptPlace: Hashable, Sendable {
    /// The inbox, as told by the place of its generations, and the store's name there.
    case inbox(FilePath, StoreName?)
    /// Where an inbox keeps its own files, and in no generation.
    case depot(ofInbox: FilePath)
    /// In the folder of one kept copy.
    case keptCopy(FilePath)
    /// Read-only, with another name too, as generations and kept copies have that were linked to.
    case otherName

    /// The work that was to be done to it.
    public enum Purpose: Hashable, Sendable {
        case destroy, move, restore, replace, setMetadata
        /// Another kind of file was to take its name.
        case write
        /// It is a folder, into which files were to be put.
        case fill
    }
}
