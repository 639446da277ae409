import ShipProtocol
import StoreFormat
import StoreSnapshot
import SystemPackage

/// One state of a store: a compact copy, and its manifest with the number that it got. Whoever is sent that state is sent this. When the
/// last reference is dropped, the copy is removed.
final class StoreVersion: Sendable {
    let manifest: Manifest
    /// The columns of the entries of the store's indexes, by the names of the indexes; `nil` if the copy is not in canonical form: then
    /// the store cannot go by its rows.
    let indexShapes: [String: IndexShape]?
    /// The state of the live store when it was copied; `nil` if that could not be told.
    let state: StoreState?
    /// The traces that the copy has left of the live store; `nil` if there may have been a change since it began.
    let left: StoreTraces?
    /// The encodings for one receiver that do for others; `nil` for a version that goes to one receiver alone.
    let deltas: EncodedDeltas?
    /// The manifest as another device has signed it; `nil` for a copy of this device's.
    let signed: SignedManifest?
    /// Where encoders may put files.
    let workingFolder: FilePath
    /// The files of the parts.
    private let paths: [FilePath]
    /// Removed with this; `nil` for parts that somebody else keeps.
    private let copy: PreparedCopy?
    /// Keeps those parts.
    private let keeper: (any Sendable)?
    /// Called when this is gone.
    private let gone: @Sendable () -> Void
    /// Called when the shipments of it are to end: their receivers go on with a newer one, and what they have of this one is of use.
    let makingWay = Registrations<Void>()

    init(
        _ copy: consuming PreparedCopy, leaving left: StoreTraces? = nil, isShared: Bool = false,
        gone: @escaping @Sendable () -> Void = {}
    ) {
        manifest = copy.manifest
        indexShapes = try? copy.copy.canonical?.get()
        paths = manifest.parts.indices.map { copy.path(ofPart: $0) }
        (state, self.left) = (copy.copy.state, left)
        deltas = isShared ? EncodedDeltas() : nil
        keeper = nil
        (signed, workingFolder) = (nil, copy.copy.path.removingLastComponent())
        self.gone = gone
        self.copy = consume copy
    }

    deinit { gone() }

    /// A version whose files do not change or go while it is used; encoders put files beside the store, or into a folder.
    init(
        _ manifest: Manifest, at paths: [FilePath], _ indexShapes: [String: IndexShape]?, signed: SignedManifest? = nil,
        workingIn folder: FilePath? = nil, state: StoreState? = nil, leaving left: StoreTraces? = nil,
        isShared: Bool = false, keptBy keeper: (any Sendable)? = nil, gone: @escaping @Sendable () -> Void = {}
    ) {
        (self.manifest, self.paths, self.indexShapes, self.keeper) = (manifest, paths, indexShapes, keeper)
        (self.signed, self.state, self.left) = (signed, state, left)
        workingFolder = folder ?? paths.first?.removingLastComponent() ?? ""
        deltas = isShared ? EncodedDeltas() : nil
        copy = nil
        self.gone = gone
    }

    /// The file of part number `index`: 0 is the store.
    func path(ofPart index: Int) -> FilePath { paths[index] }

    /// The files of the external files, in the order of the manifest.
    var externalPaths: [FilePath] { Array(paths.dropFirst()) }
}
