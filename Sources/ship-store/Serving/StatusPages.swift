import EssentialFoundation
import ShipStore
import ShipTransport
import StoreFiles
import SystemPackage

/// The pages that a receiver shows to browsers and monitors. However many ask, the inbox is read once a second at most.
actor StatusPages {
    private struct Answers {
        let made: ContinuousClock.Instant
        let byTarget: [String: WebAnswer]
    }

    private static let interval = Duration.seconds(1)

    private let inbox: FilePath
    private let metrics: Metrics
    private let device: Device
    private var last: Answers?

    init(of inbox: FilePath, _ metrics: Metrics, knownTo device: Device) {
        self.inbox = inbox
        self.metrics = metrics
        self.device = device
    }

    func answer(to target: String) -> WebAnswer {
        let answers = last.flatMap { .now - $0.made < Self.interval ? $0 : nil } ?? made()
        last = answers
        return answers.byTarget[target]
            ?? WebAnswer("there are \(answers.byTarget.keys.sorted().joined(separator: ", "))\n", status: 404)
    }

    private func made() -> Answers {
        let stores = Result { () throws(ShipmentError) in try Inbox(at: inbox).status() }
        let names = StoreStatus.names(knownTo: device)
        let page = StatusPage(
            inbox: inbox, stores: stores, names: names,
            time: Timestamp(Date(timeIntervalSince1970: PlatformCalls.timeOfDay / .seconds(1))))
        return Answers(
            made: .now,
            byTarget: [
                "/": WebAnswer(page.html, type: "text/html; charset=utf-8", policy: StatusPage.policy),
                "/status.json": Self.objects(stores, names), "/healthz": Self.health(stores),
                "/metrics": WebAnswer(metrics.text, type: "text/plain; version=0.0.4; charset=utf-8"),
            ])
    }

    private static func objects(
        _ stores: Result<[StoreStatus], ShipmentError>, _ names: [DeviceIdentifier: PeerName]
    ) -> WebAnswer {
        func answer(_ status: Int, _ text: String) -> WebAnswer {
            WebAnswer(text + "\n", status: status, type: "application/json")
        }
        switch stores {
        case .success(let stores):
            return answer(200, "[" + stores.compactMap { Output.json($0.json(names)) }.joined(separator: ",\n") + "]")
        case .failure(let error):
            let object: JSONObject = ["error": error.cause.text, "hint": error.hint?.text]
            return answer(503, Output.json(object) ?? "{}")
        }
    }

    private static func health(_ stores: Result<[StoreStatus], ShipmentError>) -> WebAnswer {
        switch stores {
        case .success(let stores):
            let failing = stores.filter { $0.state == .failing }
            guard !failing.isEmpty else { return WebAnswer("ok\n") }
            return WebAnswer(failing.map { $0.cause.text + "\n" }.joined(), status: 503)
        case .failure(let error): return WebAnswer("\(error.cause)\n", status: 503)
        }
    }
}
