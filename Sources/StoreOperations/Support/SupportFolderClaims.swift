package import ShipProtocol
package import StoreFiles
public import SystemPackage

/// Whose the files of a support folder are.
///
/// The folder goes by a stem that several stores may share, so its name proves nothing: a file is a store's own only if
/// that store's rows refer to it and no other's do. Where the rows of one of them cannot be read, it may refer to any file.
package struct SupportFolderClaims: Hashable, Sendable {
    /// Another store of the same stem.
    package struct Other: Hashable, Sendable {
        let path: FilePath
        /// What its rows refer to; `nil` if that cannot be found out.
        let files: Set<ExternalFileName>?
        let isCoreData: Bool

        package init(_ path: FilePath, refersTo files: Set<ExternalFileName>?, isCoreData: Bool) {
            self.path = path
            self.files = files
            self.isCoreData = isCoreData
        }
    }

    private let others: [Other]
    /// Whether what is nobody else's may go.
    package let permitRemoval: Bool

    /// - Parameter lock: Of the folder, held since before anybody was asked; `nil` for a mere look, after which nothing goes.
    package init(of others: [Other], under lock: SupportFolderLock?) {
        self.others = others
        permitRemoval = lock?.permitsRemoval ?? true
    }

    /// - Parameter own: What a store's rows refer to; `nil` if that cannot be found out.
    /// - Returns: Which of it is that store's alone, and may go with it.
    package func solely(_ own: Set<ExternalFileName>?) -> Set<ExternalFileName> {
        guard permitRemoval, let own, others.allSatisfy({ $0.files != nil }) else { return [] }
        return others.reduce(own) { $0.subtracting($1.files ?? []) }
    }

    /// Whether a store of that stem refers to the file, or may.
    package func mayRefer(to name: ExternalFileName) -> Bool { others.contains { $0.files?.contains(name) ?? true } }

    /// The first that keeps external files in the folder, or may do so at any time.
    package var user: FilePath? {
        others.first { $0.isCoreData || $0.files.map { !$0.isEmpty } ?? true }?.path
    }

    /// Another store of the same stem has these files as they are.
    ///
    /// - Throws: `.sharedSupportFolder`.
    package func refuse(toReplace files: [FileAtHand], in support: SupportFolder) throws(OperationError) {
        guard let user, files.contains(where: { mayRefer(to: $0.file.name) }) else { return }
        throw .sharedSupportFolder(support.path, with: user)
    }

    /// Why a file stays.
    ///
    /// - Parameters:
    ///   - name: `nil` for what no row can refer to.
    ///   - unreadable: The store that goes, if its own rows cannot be read.
    package func reason(
        for name: ExternalFileName?, besides unreadable: FilePath? = nil
    ) -> RemainingFile.Reason {
        if let name, let other = others.first(where: { $0.files?.contains(name) ?? false }) {
            return .usedBy(other.path)
        }
        if let path = others.first(where: { $0.files == nil })?.path ?? unreadable { return .unreadable(path) }
        return .unexplained
    }
}

/// A file in the support folder of a store that has gone, or of a state of it that has, which stays because it is not proven
/// that nobody needs it.
public struct RemainingFile: Hashable, Sendable {
    public let path: FilePath
    public let reason: Reason

    package init(_ path: FilePath, _ reason: Reason) {
        self.path = path
        self.reason = reason
    }

    public enum Reason: Hashable, Sendable {
        /// Another store of the same stem refers to it.
        case usedBy(FilePath)
        /// No store of that stem refers to it.
        case unexplained
        /// What this store refers to cannot be found out: it may be this file.
        case unreadable(FilePath)
        /// Somebody may still read the state of the store that refers to it; the next restore removes it.
        case stillRead
    }
}

/// The other files beside a store that share its stem, and with it the folder of external files: Core Data calls that
/// `.<stem>_SUPPORT`, whatever the extension.
package struct StoreNeighbours: Sendable {
    /// Of files that may be stores; a symbolic link stands for what it leads to, or for itself if it leads nowhere.
    package let paths: [FilePath]
    /// Other names of the store's own file: what it refers to, they refer to.
    package let otherNames: [FilePath]

    /// - Throws: If the folder cannot be listed. One that is not there has nothing in it.
    package init(of home: StoreHome) throws(FileError) {
        let names: [FilePath.Component]
        do throws(FileError) {
            names = try OpenFolder(following: home.folder).components(in: home.folder)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            names = []
        }
        let own = try? PlatformCalls.status(of: home.path).identity
        var (paths, otherNames): ([FilePath], [FilePath]) = ([], [])
        for name in names where name.stem == home.path.stem && name != home.path.lastComponent {
            guard !Self.isSidecar(name, among: names, of: home) else { continue }
            var path = home.folder.appending(name)
            guard var status = try? PlatformCalls.status(of: path) else { continue }
            if status.kind == .symbolicLink, let real = try? PlatformCalls.realPath(of: path) {
                // A link to the store itself says nothing new.
                guard let target = try? PlatformCalls.status(of: real), target.identity != own else { continue }
                (path, status) = (real, target)
            }
            switch status.kind {
            case .file where status.identity == own: otherNames.append(path)
            case .file, .symbolicLink: paths.append(path)
            case .folder, .pipe, .socket, .characterDevice, .other: continue
            }
        }
        self.paths = paths.sorted { $0.string < $1.string }
        self.otherNames = otherNames
    }

    /// What SQLite keeps beside another file is no store, unless it begins as one.
    private static func isSidecar(
        _ name: FilePath.Component, among names: [FilePath.Component], of home: StoreHome
    ) -> Bool {
        let isCalledSo = StoreHome.sidecarEndings.contains { ending in
            guard name.string.hasSuffix(ending),
                let store = FilePath.Component(String(name.string.dropLast(ending.count)))
            else { return false }
            return store == home.path.lastComponent || names.contains(store)
        }
        return isCalledSo && !StoreHome.beginsAsStore(home.folder.appending(name))
    }
}
