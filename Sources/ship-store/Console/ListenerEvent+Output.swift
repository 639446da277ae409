import ShipStore

extension ListenerEvent {
    /// For people.
    private var words: PrintableText {
        switch self {
        case .listening(let address): "listening on \(address)"
        case .pairing(let code): "pairing code: \(code.text) (for two minutes, and five tries)"
        case .paired(let peer): "paired with \(peer.name): it \(peer.rights)"
        case .turnedAway(let peer, let error): "turned away \(peer): \(error.cause)"
        }
    }

    func tell(on console: Console) {
        let peer: String? = if case .turnedAway(let peer, _) = self { "\(peer)" } else { nil }
        console.say(words, about: LogSubject(event: output.event, peer: peer, isTimed: peer != nil))
    }

    /// For programs: the event's name, and its members.
    var output: (event: String, members: JSONObject) {
        switch self {
        case .listening(let address): ("listening", ["address": address])
        case .pairing(let code): ("pairing", ["code": code.text])
        case .paired(let peer): ("paired", ["device": peer])
        case .turnedAway(let peer, let error):
            ("turned-away", ["peer": peer, "error": error.cause.text, "hint": error.hint?.text])
        }
    }
}
