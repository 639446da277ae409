import EssentialFoundation
import ShipProtocol
import ShipStore
import StoreFiles
import Subprocess
import SystemPackage

/// The settings of the variables and files of the AWS command line.
///
/// In this order: `AWS_ACCESS_KEY_ID` and its companions; the profile of `AWS_PROFILE`, or `default`, in `~/.aws/credentials`, then in
/// `~/.aws/config`, there also by its `credential_process`.
struct StorageSettings: Sendable {
    private let variables: [String: String]
    /// The lines of the profile, from both files.
    private let profile: [String: String]

    /// Largest file that is read, in bytes.
    private static let sizeLimit = 1024 * 1024
    private static let processTimeout = Duration.seconds(60)

    init(_ variables: [String: String] = ProcessInfo.processInfo.environment) {
        // An empty one counts as none, as for the command line of AWS.
        let variables = variables.filter { !$0.value.isEmpty }
        self.variables = variables
        let name = variables["AWS_PROFILE"] ?? variables["AWS_DEFAULT_PROFILE"] ?? "default"
        let home = variables["HOME"].map { FilePath($0) } ?? "/"
        func file(_ variable: String, _ standard: String) -> FilePath {
            variables[variable].map { FilePath($0) } ?? home.appending(".aws").appending(standard)
        }
        var profile = Self.section(
            name == "default" ? ["default"] : ["profile \(name)"], of: file("AWS_CONFIG_FILE", "config"))
        let credentials = Self.section([name], of: file("AWS_SHARED_CREDENTIALS_FILE", "credentials"))
        // The token goes with the keys of one file.
        if credentials["aws_access_key_id"] != nil { profile["aws_session_token"] = nil }
        self.profile = profile.merging(credentials) { $1 }
    }

    private static func section(_ names: Set<String>, of path: FilePath) -> [String: String] {
        guard let bytes = try? OpenFile.readingPlain(path).read(sizeLimit, at: 0) else { return [:] }
        var (isIn, isNested, values) = (false, false, [String: String]())
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let text = line.trimmed
            // Below a name without a value, indented lines are settings of one service.
            if isNested, line.first?.isWhitespace == true { continue }
            isNested = text.hasSuffix("=")
            if text.hasPrefix("[") {
                isIn = names.contains(text.dropFirst().prefix { $0 != "]" }.trimmed)
            } else if isIn, !text.hasPrefix("#"), !text.hasPrefix(";"), let equals = text.firstIndex(of: "=") {
                values[text[..<equals].trimmed.lowercased()] = text[equals...].dropFirst().trimmed
            }
        }
        return values
    }

    var region: String? { variables["AWS_REGION"] ?? variables["AWS_DEFAULT_REGION"] ?? profile["region"] }
    /// Where the server is; `nil` for AWS.
    var endpoint: String? {
        variables["AWS_ENDPOINT_URL_S3"] ?? variables["AWS_ENDPOINT_URL"] ?? profile["endpoint_url"]
    }
    /// A file with certificates that are trusted in place of the system's, as PEM.
    var authorities: FilePath? { variables["AWS_CA_BUNDLE"].map { FilePath($0) } }

    func credentials() async throws -> StorageCredentials {
        if let key = variables["AWS_ACCESS_KEY_ID"], let secret = variables["AWS_SECRET_ACCESS_KEY"] {
            return StorageCredentials(key: key, secret: secret, token: variables["AWS_SESSION_TOKEN"])
        }
        if let key = profile["aws_access_key_id"], let secret = profile["aws_secret_access_key"] {
            return StorageCredentials(key: key, secret: secret, token: profile["aws_session_token"])
        }
        if let command = profile["credential_process"] { return try await Self.ask(command) }
        throw PublicationError.noCredentials
    }

    /// The output of a `credential_process`.
    private struct Answer: Decodable {
        let AccessKeyId: String
        let SecretAccessKey: String
        let SessionToken: String?
    }

    private static func ask(_ command: String) async throws -> StorageCredentials {
        let output = try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                var platform = PlatformOptions()
                // What it has started may keep its output open.
                platform.processGroupID = 0
                platform.teardownSequence = [
                    .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .seconds(2))
                ]
                let input = try OpenFile.nowhere(.readOnly)
                let output = try OpenFile.nowhere(.writeOnly)
                defer {
                    withExtendedLifetime(input) { _ in }
                    withExtendedLifetime(output) { _ in }
                }
                do {
                    let result = try await Subprocess.run(
                        .path("/bin/sh"), arguments: ["-c", command], platformOptions: platform,
                        input: .fileDescriptor(input.descriptor, closeAfterSpawningProcess: false),
                        output: .bytes(limit: 65_536),
                        error: .fileDescriptor(output.descriptor, closeAfterSpawningProcess: false))
                    guard case .exited(0) = result.terminationStatus else { return nil }
                    return result.standardOutput
                } catch {
                    // It may have written more.
                    try Task.checkCancellation()
                    return nil
                }
            }
            group.addTask {
                try await Task.sleep(for: processTimeout)
                return nil
            }
            return try await group.next() ?? nil
        }
        guard let output, let answer = try? JSONDecoder().decode(Answer.self, from: Data(output)) else {
            throw PublicationError.noCredentials
        }
        return StorageCredentials(key: answer.AccessKeyId, secret: answer.SecretAccessKey, token: answer.SessionToken)
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        let start = drop { $0 == " " || $0 == "\t" }
        return String(String(start.reversed().drop { $0 == " " || $0 == "\t" || $0 == "\r" }).reversed())
    }
}
