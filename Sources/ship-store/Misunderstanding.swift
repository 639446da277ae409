import ArgumentParser
import ShipStore

/// A name on the command line that there is not. ArgumentParser tells of what follows from it first: of an argument that is missing, say.
struct Misunderstanding {
    let cause: PrintableText
    /// The word that may have been meant.
    let hint: PrintableText?
    /// Whether ArgumentParser takes it for several options of a letter each, of which one may be that of help.
    var isOfLetters = false

    /// - Returns: `nil` if every name is known.
    static func first(in arguments: [String]) -> Misunderstanding? {
        let rest = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        guard let first = rest.first, !first.hasPrefix("-") else { return nil }
        let commands = ShipStoreCommand.configuration.subcommands.map { $0.configuration }
        guard let index = commands.firstIndex(where: { $0.commandName == first }) else {
            let names = commands.filter(\.shouldDisplay).compactMap(\.commandName)
            return Misunderstanding("there is no command \(first)", first, among: names)
        }
        // The help of a command has each of its options.
        let help = ShipStoreCommand.helpMessage(
            for: ShipStoreCommand.configuration.subcommands[index], includeHidden: true, columns: 1000)
        let known = Set(help.split { !$0.isLetter && !$0.isNumber && $0 != "-" }.map(String.init)).union(["--version"])
        let words = Array(rest.dropFirst().prefix { $0 != "--" })
        if let word = words.first(where: Self.looksLikeLetters) {
            let hint: PrintableText = "a path that begins with a dash is written ./\(word)"
            return Misunderstanding(cause: "unknown option '\(word)'", hint: hint, isOfLetters: true)
        }
        for (word, next) in zip(words, words.dropFirst() + [""]) where word.hasPrefix("--") {
            let option = String(word.prefix { $0 != "=" })
            guard known.contains(option) else {
                let names = known.filter { $0.hasPrefix("--") }
                return Misunderstanding("unknown option '\(option)'", option, among: names)
            }
            if !word.contains("="), next.hasPrefix("-"), next.dropFirst().first?.isNumber == true {
                return Misunderstanding(of: next, after: option, in: arguments)
            }
        }
        return nil
    }

    private init(cause: PrintableText, hint: PrintableText?, isOfLetters: Bool = false) {
        (self.cause, self.hint, self.isOfLetters) = (cause, hint, isOfLetters)
    }

    private static func looksLikeLetters(_ word: String) -> Bool {
        word.count > 2 && word.hasPrefix("-") && !word.hasPrefix("--") && word.dropFirst().first?.isNumber == false
    }

    /// - Parameter number: Below 0. ArgumentParser takes it for an option of its own, unless it follows a `=`: then it is judged.
    private init(of number: String, after option: String, in arguments: [String]) {
        var joined = arguments
        for index in arguments.indices.dropLast() where arguments[index...(index + 1)] == [option, number] {
            joined.replaceSubrange(index...(index + 1), with: ["\(option)=\(number)"])
            break
        }
        do {
            _ = try ShipStoreCommand.parseAsRoot(joined)
            self.init(cause: "\(number) is taken for an option", hint: "write \(option)=\(number)")
        } catch {
            self.init(cause: ShipStoreCommand.cause(of: ShipStoreCommand.message(for: error)), hint: nil)
        }
    }

    private init(_ cause: PrintableText, _ wanted: String, among names: some Sequence<String>) {
        let near = NearNames.names(near: wanted, among: names).prefix(1)
        self.init(cause: cause, hint: NearNames.question(Array(near)))
    }
}
