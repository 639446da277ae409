import ArgumentParser
import ShipStore
import ShipStoreNetwork
import SystemPackage

/// How to reach web servers, and storage, in which stores are published.
struct StorageArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            With s3: the server of S3-compatible storage, https://HOST. (default: AWS_ENDPOINT_URL, or Amazon's of AWS_REGION)
            """, valueName: "url"), transform: WebAddress.read)
    var endpointUrl: WebAddress?

    @Option(
        help: ArgumentHelp(
            """
            With https and s3: trust the authorities whose certificates this file has, as PEM, and no others. (default: SSL_CERT_FILE, with s3 \
            AWS_CA_BUNDLE first, or the system's)
            """,
            valueName: "file"), completion: .file())
    var caFile: FilePath?

    func validate(for endpoint: Endpoint?) throws {
        switch endpoint {
        case .bucket: break
        case .web:
            if endpointUrl != nil { throw ValidationError("--endpoint-url is for s3://BUCKET/PREFIX") }
        case nil, .tcp, .unix, .command, .standardStreams, .file, .folder:
            guard endpointUrl == nil, caFile == nil else {
                throw ValidationError("--endpoint-url and --ca-file are for s3://BUCKET/PREFIX and https://HOST/PATH")
            }
        }
    }

    func apply(to options: inout LinkOptions) {
        options.authorities = caFile
        options.storage.endpoint = endpointUrl
    }
}

extension WebAddress {
    @Sendable fileprivate static func read(_ text: String) throws -> WebAddress {
        guard case .web(let address)? = try? Endpoint(text) else {
            throw ValidationError("a server is https://HOST, or http://HOST:PORT")
        }
        return address
    }
}
