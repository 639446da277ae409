import Foundation

/// A command as a user might type it.
enum RandomCommand {
    case copy(String, to: String, as: String?, leavingOut: Bool)
    case keep(String, in: String, tag: String?)
    case pruneCopies(in: String, keeping: Int, tag: String?)
    case restore(String, over: String, options: [String])
    case move(String, to: String, removing: Bool, replacing: Bool)
    case destroy(String)
    case setMetadata(String, value: Int)
    case send(String, to: String)
    case receive(String, into: String, name: String)
    case rollback(String, into: String)
    case prune(String, name: String?)
    case forget(String, into: String)

    var arguments: [String] {
        switch self {
        case .copy(let store, let folder, let name, let leavingOut):
            ["copy", store, "--to", folder] + (name.map { ["--as", $0] } ?? [])
                + (leavingOut ? ["--without-external-over", "1k"] : [])
        case .keep(let store, let folder, let tag):
            ["copy", store, "--keep-in", folder] + (tag.map { ["--tag", $0] } ?? [])
        case .pruneCopies(let folder, let count, let tag):
            ["copies", "--in", folder, "--prune", "--keep", "\(count)"] + (tag.map { ["--tag", $0] } ?? [])
        case .restore(let copy, let store, let options): ["restore", copy, "--over", store] + options
        case .move(let store, let folder, let removing, let replacing):
            ["move", store, "--to", folder] + (removing ? ["--remove-old"] : []) + (replacing ? ["--replace"] : [])
        case .destroy(let store): ["destroy", store]
        case .setMetadata(let store, let value): ["metadata", store, "--set", "number=\(value)"]
        case .send(let store, let target): ["send", store, "--to", target == "-" ? target : "./\(target)"]
        case .receive(let source, let inbox, _):
            ["receive", "--into", inbox, "--from", source == "-" ? source : "./\(source)"]
        case .rollback(let name, let inbox): ["rollback", name, "--into", inbox]
        case .prune(let inbox, let name): ["prune", "--into", inbox, "--keep", "1"] + (name.map { [$0] } ?? [])
        case .forget(let name, let inbox): ["forget", name, "--into", inbox]
        }
    }

    /// The store that it reads or changes.
    var store: String? {
        switch self {
        case .copy(let store, _, _, _), .keep(let store, _, _), .move(let store, _, _, _), .destroy(let store),
            .setMetadata(let store, _), .send(let store, _):
            store
        case .restore(_, let store, _): store
        case .pruneCopies, .receive, .rollback, .prune, .forget: nil
        }
    }

    /// Those that it writes to, or that are in its way.
    var stores: [String] {
        switch self {
        case .restore, .destroy, .setMetadata: [store].compactMap(\.self)
        case .move(let store, let folder, let removing, _):
            (removing ? [store] : []) + ["\(folder)/\(StorePaths(store).name)"]
        case .copy(_, let folder, let name, _): name.map { ["\(folder)/\(Names.ofCopy($0))"] } ?? []
        case .keep, .send, .pruneCopies, .receive, .rollback, .prune, .forget: []
        }
    }

    /// - Parameters:
    ///   - before: What is there when it starts.
    ///   - other: What runs at the same time.
    func touch(on desk: RandomDesk, _ before: Snapshot, beside other: RandomCommand? = nil) -> Touch {
        let others = Set((other?.stores ?? []).map { desk.resolve($0) ?? $0 })
        func belongings(of name: String) -> Set<String> { desk.belongings(of: name, in: before, besides: others) }
        switch self {
        case .copy(let store, let folder, let name, _):
            var touch = Touch(newIn: [folder])
            // Only an older copy of this store is replaced.
            if let name, let target = desk.resolve("\(folder)/\(Names.ofCopy(name))"), let source = desk.resolve(store),
                let old = desk.reader.state(of: target, in: before), source != target,
                old.identity == desk.reader.state(of: source, in: before)?.identity
            {
                touch.paths = belongings(of: target)
            }
            return touch
        case .keep(_, let folder, _): return Touch(newIn: [folder])
        case .pruneCopies(let folder, let count, let tag):
            let staying = desk.mustStay(in: folder, keeping: count, tag: tag, coming: other == nil ? 0 : 1)
            let candidates = desk.copies.filter { copy in
                Names.folder(of: copy.path) == folder
                    && (tag.map { copy.tags.contains($0) } ?? copy.tags.isEmpty)
            }
            return Touch(folders: Set(candidates.map(\.path)).subtracting(staying))
        case .restore(_, let store, let options):
            let place = desk.resolve(store) ?? store
            let kept = options.firstIndex(of: "--safety-copies").map { options[$0 + 1] }
            // A lost store may have left sidecars, which SQLite would take for a part of the next one.
            let left = Set(StorePaths(place).sidecars + [StorePaths(place).note])
            return Touch(
                paths: belongings(of: store).union(desk.isKept(place, in: before) ? [] : left),
                newIn: Set([StorePaths(place).folder, kept].compactMap(\.self)))
        case .move(let store, let folder, let removing, let replacing):
            var touch = Touch(newIn: [folder])
            if removing { touch.paths.formUnion(belongings(of: store)) }
            // What was begun at the new place may be finished there.
            let target = "\(folder)/\(StorePaths(store).name)"
            if replacing { touch.paths.formUnion(belongings(of: target)) }
            return touch
        case .destroy(let store):
            return Touch(
                paths: belongings(of: store),
                newIn: [StorePaths(desk.resolve(store) ?? store).folder])
        case .setMetadata(let store, _): return Touch(paths: desk.fileOf(store, in: before))
        case .send(_, let target): return Touch(newIn: [target])
        case .receive(_, let inbox, let name):
            return Touch(paths: Self.litter(inbox, before), folders: Self.depot(name, inbox), newIn: [inbox])
        case .rollback(let name, let inbox): return Touch(folders: Self.depot(name, inbox))
        case .prune(let inbox, let name):
            return Touch(folders: name.map { Self.depot($0, inbox) } ?? ["\(inbox)/.ship-store"])
        case .forget(let name, let inbox):
            let links = ["\(inbox)/\(name).sqlite", "\(inbox)/.\(name)_SUPPORT"].filter {
                if case .link = before[$0] { true } else { false }
            }
            return Touch(paths: Set(links), folders: Self.depot(name, inbox))
        }
    }

    /// What killed receivers have left of shipments that never became current, of whatever store: the next one sweeps it.
    private static func litter(_ inbox: String, _ before: Snapshot) -> Set<String> {
        let depot = "\(inbox)/.ship-store/"
        return Set(
            before.entries.keys.filter { path in
                guard path.hasPrefix(depot) else { return false }
                let names = path.dropFirst(depot.count).split(separator: "/")
                guard names.count > 1 else { return false }
                return names[1] == "staging" || before["\(depot)\(names[0])/current"] == nil
            })
    }

    /// What an inbox keeps of one store, its lock, and its records of all stores, with what was killed as it wrote one.
    private static func depot(_ name: String, _ inbox: String) -> Set<String> {
        Set([name, ".lock", ".failed", ".failed.new"].map { "\(inbox)/.ship-store/\($0)" })
    }
}
