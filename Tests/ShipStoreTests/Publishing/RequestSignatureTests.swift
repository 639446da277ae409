import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStoreNetwork

/// Requests to S3-compatible storage are signed as others sign them, with the keys that others use.
@Suite struct RequestSignatureTests {
    /// Recorded from botocore 1.40, at that time.
    @Test(
        arguments: [
            (
                "GET", "127.0.0.1:5999", "/bucket/kitchen/head", [], "", nil,
                "831fae988ea007d3ad1e875b4b3eb6c6e2c716f0673db2667293e1fe42443dbe"
            ),
            (
                "GET", "127.0.0.1:5999", "/bucket/kitchen/head", [], nil, nil,
                "994d6ab7f491d68230f54c788d728d7055eb529e600adb81672adcf110769556"
            ),
            (
                "PUT", "bucket.s3.eu-central-1.amazonaws.com", "/kitchen/objects/00ff", [], "hello",
                "TOKEN/with+chars==",
                "61cefbd6823b5a8413a199522554fcc160ad4a5e682c2abc8b827bdb28c58077"
            ),
            (
                "GET", "bucket.s3.eu-central-1.amazonaws.com", "/",
                [("list-type", "2"), ("prefix", "kitchen/objects/"), ("continuation-token", "a+b/=")], "", nil,
                "3e9a7a2073a41afbcbe65148111487c1a8cc9a0fb60995fe3e93a7d2a348fdf6"
            ),
        ] as [(String, String, String, [(String, String)], String?, String?, String)])
    func `a request has the signature that botocore gives it`(
        method: String, host: String, path: String, query: [(String, String)], body: String?, token: String?,
        signature: String
    ) throws {
        let headers = RequestSignature.headers(
            method, host: host, path: path,
            query: query.map { (String(percentEncoding: $0.utf8), String(percentEncoding: $1.utf8)) },
            payload: body.map { ContentDigest(hashing: $0.utf8) }, region: "eu-central-1",
            StorageCredentials(
                key: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token: token),
            at: try #require(Timestamp("2026-11-20T19:04:05Z")))
        let authorization = try #require(headers.last { $0.0 == "Authorization" }?.1)
        #expect(authorization.hasSuffix(",Signature=\(signature)"))
        #expect(!headers.contains { $0.1 == "UNSIGNED-PAYLOAD" } || body == nil)
        #expect(headers.contains { $0.0 == "x-amz-security-token" } == (token != nil))
    }

    @Test func `keys come from the variables, the profile, or a process, in this order`() async throws {
        let scratch = try ScratchFolder()
        let (credentials, config) = (scratch.path.appending("credentials"), scratch.path.appending("config"))
        try OpenFile.creating(credentials).write(
            Array(
                """
                [other]
                aws_access_key_id = OTHER
                # a comment
                [default]
                  aws_access_key_id=KEY
                aws_secret_access_key = a secret = with signs
                """.utf8))
        try OpenFile.creating(config).write(
            Array(
                """
                [default]
                s3 =
                  region = nested
                  endpoint_url = http://127.0.0.1:1
                region = eu-north-1
                [profile process]
                region = eu-west-3
                credential_process = echo '{"Version":1,"AccessKeyId":"P","SecretAccessKey":"S","SessionToken":"T"}'
                [profile broken]
                credential_process = exit 3
                """.utf8))
        var variables = [
            "AWS_SHARED_CREDENTIALS_FILE": credentials.string, "AWS_CONFIG_FILE": config.string,
            "PATH": "/bin:/usr/bin",
        ]
        #expect(
            try await StorageSettings(variables).credentials()
                == StorageCredentials(key: "KEY", secret: "a secret = with signs", token: nil))
        #expect(StorageSettings(variables).region == "eu-north-1")
        #expect(StorageSettings(variables).endpoint == nil)
        // Empty variables count as none.
        let empty = [
            "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL",
        ]
        let none = variables.merging(empty.map { ($0, "") }) { $1 }
        #expect(StorageSettings(none).region == "eu-north-1")
        #expect(try await StorageSettings(none).credentials().key == "KEY")
        variables["AWS_PROFILE"] = "process"
        #expect(StorageSettings(variables).region == "eu-west-3")
        #expect(
            try await StorageSettings(variables).credentials() == StorageCredentials(key: "P", secret: "S", token: "T"))
        for profile in ["broken", "none"] {
            variables["AWS_PROFILE"] = profile
            await #expect(throws: PublicationError.noCredentials) {
                try await StorageSettings(variables).credentials()
            }
        }
        variables["AWS_ACCESS_KEY_ID"] = "V"
        variables["AWS_SECRET_ACCESS_KEY"] = "W"
        #expect(
            try await StorageSettings(variables).credentials() == StorageCredentials(key: "V", secret: "W", token: nil))
    }
}
