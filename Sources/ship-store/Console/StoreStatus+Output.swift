import ShipStore
import StoreFiles
import StoreInbox
import SystemPackage

/// How `status` tells it, and the page of `receive --serve`.
extension StoreStatus {
    /// This device's names for those who send. A list that cannot be read gives no names.
    static func names(knownTo device: Device) -> [DeviceIdentifier: PeerName] {
        Dictionary(((try? device.peers()) ?? []).map { ($0.id, $0.name) }) { first, _ in first }
    }

    var cause: PrintableText {
        if let problem { return "\(name) is damaged: \(ShipmentError.install(problem).cause)" }
        return "the last shipment of \(name) failed: \(failure?.error ?? "")"
    }

    var hint: PrintableText? {
        if let problem { return ShipmentError.install(problem).hint }
        return failure?.hint.map { "\($0)" }
    }

    static let columns: [TextColumn] = [
        .left(""), .left("name"), .right("number"), .right("size"), .left("installed"), .left("age"),
    ]

    var fields: [String] {
        [
            state.rawValue, name.text, current.map { "\($0.generation.number)" } ?? "",
            current.map { Figures.bytes($0.generation.manifest.totalSize) } ?? "", current?.installedAt.text ?? "",
            current?.age?.inWords ?? "",
        ]
    }

    func details(_ names: [DeviceIdentifier: PeerName]) -> [PrintableText] {
        var lines: [PrintableText] = []
        if let current {
            let producer: PrintableText? = current.producer.map { id in names[id].map { "\($0), \(id)" } ?? "\(id)" }
            if current.isAdopted {
                lines.append("adopted by the operator of this device")
            } else {
                lines.append(
                    "from \(producer ?? "an unknown device")" + (current.counter.map { ", its number \($0)" } ?? ""))
            }
            if current.age?.isConnected == true { lines.append("connected: a receiver can ask the sender") }
            if let since = current.onHoldSince { lines.append("held since \(since): no shipment comes in") }
        }
        if let halted { lines.append("halted by its publisher since \(halted): nothing newer is taken") }
        for waiting in unfinished {
            lines.append(
                "unfinished: \(Figures.bytes(waiting.bytes)) of what was copied \(waiting.manifest.createdAt), "
                    + "\(Figures.bytes(waiting.manifest.totalSize)), are here since \(waiting.since)")
        }
        if let problem { lines.append("damaged: \(ShipmentError.install(problem).cause)") }
        if let failure {
            let first: PrintableText = failure.since == failure.at ? "" : ", first \(failure.since)"
            lines.append("failed \(failure.at)\(first): \(failure.error) (\(failure.code))")
            if let hint = failure.hint { lines.append("to do: \(hint)") }
        }
        return lines
    }

    func json(_ names: [DeviceIdentifier: PeerName]) -> JSONObject {
        let noted: JSONObject? = failure.map {
            [
                // The kind, for programs.
                "code": $0.code, "error": $0.error.text, "hint": $0.hint?.text,
                // When the first one failed since the last success, and when the last one did.
                "since": $0.since.text, "at": $0.at.text,
            ]
        }
        return [
            "name": name.text, "state": state.rawValue, "generation": current?.generation.number,
            "size": current?.generation.manifest.totalSize, "createdAt": current?.generation.manifest.createdAt.text,
            "installedAt": current?.installedAt.text, "age": current?.age?.age?.inWholeSeconds,
            "isConnected": current?.age?.isConnected == true ? true : nil, "producer": current?.producer,
            // What this device calls it.
            "producerName": current?.producer.flatMap { names[$0]?.text }, "counter": current?.counter,
            "isAdopted": current?.isAdopted == true ? true : nil, "onHoldSince": current?.onHoldSince?.text,
            // By the publisher's clock.
            "haltedSince": halted?.text,
            "unfinished": unfinished.map(\.shipment), "failure": noted,
            "error": problem.map { ShipmentError.install($0).cause.text },
        ]
    }
}
