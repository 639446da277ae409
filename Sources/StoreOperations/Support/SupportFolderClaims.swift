package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Which store the files of a support folder belong to.
///
/// Several stores may share the stem that names the folder, so its name proves nothing: a file belongs to a store only if that
/// store's rows refer to it and no other's do. A store whose rows cannot be read may refer to any file.
package struct SupportFolderClaims: Sendable {
    private let others: [(path: FilePath, files: Set<ExternalFileName>?, isCoreData: Bool)]
    /// Whether files that no other store refers to may be removed.
    package let permitRemoval: Bool

    /// - Parameters:
    ///   - others: The other stores of the same stem; the files that the rows of each refer to, `nil` if that cannot be found out;
    ///     and whether Core Data has made it.
    ///   - lock: Of the folder, held since before any store was asked; `nil` for a mere look, after which nothing is removed.
    package init(
        of others: [(path: FilePath, files: Set<ExternalFileName>?, isCoreData: Bool)], under lock: SupportFolderLock?
    ) {
        self.others = others
        permitRemoval = lock?.permitsRemoval ?? true
    }

    /// - Parameter own: What a store's rows refer to; `nil` if that cannot be found out.
    /// - Returns: The files among them that belong to that store alone, and may go with it.
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
    package func refuse(
        toReplace files: [(file: ExternalFile, path: FilePath)], in support: SupportFolder
    ) throws(OperationError) {
        guard let user, files.contains(where: { mayRefer(to: $0.file.name) }) else { return }
        throw .sharedSupportFolder(support.path, with: user)
    }

    /// Why a file stays.
    ///
    /// - Parameters:
    ///   - name: `nil` for what no row can refer to.
    ///   - unreadable: The store that goes, if its own rows cannot be read.
    package func reason(for name: ExternalFileName?, besides unreadable: FilePath? = nil) -> RemainingFile.Reason {
        if let name, let other = others.first(where: { $0.files?.contains(name) ?? false }) {
            return .usedBy(other.path)
        }
        if let path = others.first(where: { $0.files == nil })?.path ?? unreadable { return .unreadable(path) }
        return .unexplained
    }
}

extension StoreHome {
    /// The other files beside the store that share its stem, and with it the folder of external files: Core Data calls that
    /// `.<stem>_SUPPORT`, whatever the extension.
    ///
    /// - Returns: The paths of files that may be stores, sorted; a symbolic link stands for what it leads to, or for itself if it
    ///   leads nowhere. And other names of the store's own file: what it refers to, they refer to.
    /// - Throws: If the folder cannot be listed. One that is not there has nothing in it.
    package func neighbours() throws(FileError) -> (paths: [FilePath], otherNames: [FilePath]) {
        let found = try FileError.unless([.noSuchFileOrDirectory]) { () throws(FileError) in
            try OpenFolder(following: folder).components(in: folder)
        }
        let names = found ?? []
        let own = try PlatformCalls.statusIfThere(of: self.path)?.identity
        var (paths, otherNames): ([FilePath], [FilePath]) = ([], [])
        for name in names where name.stemText == self.path.stemText && name != self.path.lastComponent {
            guard try !isSidecar(name, among: names) else { continue }
            var path = folder.appending(name)
            guard var status = try PlatformCalls.statusIfThere(of: path) else { continue }
            if status.kind == .symbolicLink, let real = try? PlatformCalls.realPath(of: path) {
                // A link to the store itself says nothing new.
                guard let target = try PlatformCalls.statusIfThere(of: real), target.identity != own else { continue }
                (path, status) = (real, target)
            }
            switch status.kind {
            case .file where status.identity == own: otherNames.append(path)
            case .file, .symbolicLink: paths.append(path)
            case .folder, .pipe, .socket, .characterDevice, .other: continue
            }
        }
        return (paths.sorted { $0.text < $1.text }, otherNames)
    }

    /// A sidecar of another file is no store, unless it begins as one.
    private func isSidecar(_ name: FilePath.Component, among names: [FilePath.Component]) throws(FileError) -> Bool {
        let isCalledSo = Self.sidecarEndings.contains { ending in
            guard name.text.hasSuffix(ending),
                let store = FilePath(text: String(name.text.dropLast(ending.count))).lastComponent
            else { return false }
            return store == path.lastComponent || names.contains(store)
        }
        guard isCalledSo else { return false }
        return try !Self.beginsAsStore(folder.appending(name))
    }
}
