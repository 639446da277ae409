extension ValueKind {
    /// Texts of a grammar.
    static let markup = [
        ValueKind("JSON", "TEXT") { choices in
            let keys = (0...choices.below(8)).map { _ in choices.word() }
            let isSpaced = choices.chance(30)
            return { choices, place in
                let members = keys.map { "\"\($0)\":\(isSpaced ? " " : "")\(json(choices, depth: 0, place.isEdited))" }
                return .text("{\(members.joined(separator: isSpaced ? ", " : ","))}")
            }
        },
        ValueKind("XML", "TEXT") { choices in
            let names = (0...choices.below(5)).map { _ in "n\(choices.below(50))" }
            return { choices, place in
                let elements = (0...choices.below(12)).map { _ in
                    let name = choices.pick(names)
                    return
                        "  <\(name) id=\"\(choices.below(1000))\">\(choices.sentence(2, isEdited: place.isEdited))</\(name)>\n"
                }
                return .text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<list>\n\(elements.joined())</list>\n")
            }
        },
        ValueKind("HTML", "TEXT") { _ in
            { choices, place in
                let items = (0...choices.below(20)).map { _ in
                    "<li class=\"\(choices.word())\"><a href=\"/\(choices.word())\">\(choices.sentence(4))</a></li>"
                }
                let title = choices.sentence(3, isEdited: place.isEdited)
                return .text(
                    "<!DOCTYPE html><html><head><title>\(title)</title></head><body><ul>\(items.joined())</ul></body></html>"
                )
            }
        },
        ValueKind("property list in XML", "BLOB") { _ in
            { choices, place in
                let pairs = (0...choices.below(9)).map { _ in
                    "\t<key>\(choices.word())</key>\n\t<string>\(choices.sentence(2, isEdited: place.isEdited))</string>\n"
                }
                return .blob(
                    Array(
                        """
                        <?xml version="1.0" encoding="UTF-8"?>
                        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                        <plist version="1.0">
                        <dict>
                        \(pairs.joined())</dict>
                        </plist>

                        """.utf8))
            }
        },
    ]

    private static func json(_ choices: Choices, depth: Int, _ isEdited: Bool) -> String {
        switch choices.below(depth < 3 ? 7 : 5) {
        case 0: "\(choices.integer())"
        case 1: "\"\(choices.sentence(3, isEdited: isEdited))\""
        case 2: choices.pick(["null", "true", "false"])
        case 3: "\(Double(choices.below(10_000)) / 16)"
        case 4: "\"\""
        case 5:
            "[\((0..<choices.below(6)).map { _ in json(choices, depth: depth + 1, isEdited) }.joined(separator: ","))]"
        default: "{\"\(choices.word())\":\(json(choices, depth: depth + 1, isEdited))}"
        }
    }
}
