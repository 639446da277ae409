import TestSupport
import Testing

@testable import ShipTransport

/// Which proxy the environment names for which server.
@Suite struct WebProxiesTests {
    /// - Returns: `HOST:PORT AUTHORIZATION`; nothing for no proxy.
    private func proxy(_ variables: [String: String], for url: String) throws -> String {
        guard case .web(let address) = try Endpoint(url) else { return "no URL" }
        let proxy = try WebProxies(variables).proxy(for: WebTarget("head", at: address).server)
        return proxy.map { "\($0.host):\($0.port)" + ($0.authorization.map { " \($0)" } ?? "") } ?? ""
    }

    @Test(
        arguments: [
            (["https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:2"], "https://shop/x", "a:1"),
            (["HTTPS_PROXY": "b:2", "http_proxy": "c:3"], "https://shop/x", "b:2"),
            (["HTTPS_PROXY": "b:2", "http_proxy": "c:3"], "http://shop/x", "c:3"),
            (["HTTP_PROXY": "c:3"], "http://shop/x", ""),
            (["https_proxy": "", "ALL_PROXY": "d:4"], "https://shop/x", "d:4"),
            (["https_proxy": "a"], "https://shop/x", "a:1080"),
            (["https_proxy": "http://[::1]/"], "https://shop/x", "::1:1080"),
            // "me:p@ss"
            (["https_proxy": "http://me:p%40ss@a:1/"], "https://shop/x", "a:1 Basic bWU6cEBzcw=="),
            (["https_proxy": "http://me@a:1"], "https://shop/x", "a:1 Basic bWU6"),
        ] as [([String: String], String, String)])
    func `the first variable that is for the scheme counts`(
        variables: [String: String], url: String, expected: String
    ) throws {
        #expect(try proxy(variables, for: url) == expected)
    }

    @Test(
        arguments: [
            ("*", "https://shop/x", true), ("shop", "https://shop/x", true), ("shop", "https://www.shop/x", true),
            (".shop", "https://www.SHOP/x", true), ("hop", "https://shop/x", false),
            ("a, shop", "https://shop/x", true), ("a shop b", "https://shop/x", true), ("", "https://shop/x", false),
            (".", "https://shop/x", false), ("shop:443", "https://shop/x", true), ("shop:80", "https://shop/x", false),
            ("10.1.2.3", "https://10.1.2.3/x", true), ("10.1.2.3:8443", "https://10.1.2.3:8443/x", true),
            ("2.3", "https://10.1.2.3/x", false), ("10.0.0.0/8", "https://10.1.2.3/x", true),
            ("10.0.0.0/16", "https://10.1.2.3/x", false), ("0.0.0.0/0", "https://10.1.2.3/x", true),
            ("10.0.0.0/33", "https://10.1.2.3/x", false), ("::1", "https://[::1]/x", true),
            ("[::1]:443", "https://[0:0::1]/x", true), ("[::1]:80", "https://[::1]/x", false),
        ])
    func `what is listed is reached without`(list: String, url: String, isExempt: Bool) throws {
        for name in ["no_proxy", "NO_PROXY"] {
            #expect(try proxy(["https_proxy": "a:1", name: list], for: url) == (isExempt ? "" : "a:1"))
        }
    }

    @Test(arguments: ["socks5://a:1", "https://a:1", "http://", "a:b", "http://a b:1"])
    func `what is no proxy is named by its variable, and not shown`(text: String) throws {
        #expect(throws: LinkError.badProxy(variable: "ALL_PROXY")) {
            try proxy(["ALL_PROXY": text], for: "https://shop/x")
        }
    }
}
