import ArgumentParser
import ShipStore
import ShipStoreNetwork

/// How stores are published.
struct PublishingArguments: ParsableArguments {
    @OptionGroup var storage: StorageArguments

    @Flag(
        help:
            "With s3: publish also where the storage does not honour conditions on writing. No other program may publish there then."
    )
    var unconditional = false

    @Option("With s3: how long caches in front of the storage may show a head. (default: 2s)", .interval)
    var headCache: Duration?

    @Option(
        help: ArgumentHelp(
            """
            Encrypt what is published, for this device: what `ship-store identity --encryption-key` says there. Once for each device \
            that is to read it.
            """, valueName: "key"), transform: EncryptionKey.read)
    var encryptTo: [EncryptionKey] = []

    @Option(
        help: ArgumentHelp(
            """
            Have only some receivers take what is published, at first: shares of them, and how long after publishing, as in \
            1%,10%:1h,100%:1d. Those beyond the last share wait for `ship-store publish --release`.
            """, valueName: "shares"), transform: Rollout.read)
    var rollout: Rollout?

    @Option("With --follow: how often to sign the head anew, though nothing has changed. (default: 1h)", .interval)
    var reissue: Duration?

    func validate(for endpoint: Endpoint?, isFollowing: Bool) throws {
        try storage.validate(for: endpoint)
        if let reissue {
            guard isFollowing else { throw ValidationError("--reissue says something only with --follow") }
            guard reissue >= .seconds(1) else { throw ValidationError("--reissue takes 1s or more") }
        }
        if unconditional || headCache != nil {
            guard case .bucket = endpoint else {
                throw ValidationError("--unconditional and --head-cache are for s3://BUCKET/PREFIX")
            }
        }
        guard !encryptTo.isEmpty || rollout != nil || reissue != nil else { return }
        guard Set(encryptTo).count < Limits.recipients else {
            throw ValidationError("a publication is encrypted for at most \(Limits.recipients - 1) devices")
        }
        switch endpoint {
        case .folder, .web, .bucket: break
        case nil, .tcp, .unix, .command, .standardStreams, .file:
            throw ValidationError(
                encryptTo.isEmpty
                    ? "--rollout and --reissue are for publications"
                    : "--encrypt-to is for publications: over TCP everything is encrypted")
        }
    }

    func apply(to options: inout LinkOptions) {
        storage.apply(to: &options)
        options.storage.isUnconditional = unconditional
        if let headCache { options.storage.headCache = headCache }
    }

    var publishing: Publishing {
        var publishing = Publishing()
        publishing.recipients = Set(encryptTo)
        publishing.rollout = rollout
        if let reissue { publishing.reissuing = reissue }
        return publishing
    }
}

extension EncryptionKey {
    @Sendable fileprivate static func read(_ text: String) throws -> EncryptionKey {
        do throws(DeviceIdentifierError) {
            return try EncryptionKey(text)
        } catch {
            if (try? DeviceIdentifier(text)) != nil {
                throw ValidationError(
                    "that is the id of a device; its key is what `ship-store identity --encryption-key` says there")
            }
            throw ValidationError(error.words)
        }
    }
}

extension Rollout {
    /// `1%,10%:1h,100%:1d`
    @Sendable fileprivate static func read(_ text: String) throws -> Rollout {
        let stages = try text.split(separator: ",", omittingEmptySubsequences: false).map { stage in
            let parts = stage.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let share = share(parts[0]) else {
                throw ValidationError("a share is a percentage, as 1% or 0.5%, and not '\(parts[0])'")
            }
            return Stage(share: share, after: parts.count == 2 ? try Duration.readAge(String(parts[1])) : .zero)
        }
        guard let rollout = Rollout(stages) else {
            throw ValidationError(
                "a rollout has at most \(Limits.rolloutStages) shares, each larger than the one before, after no shorter a time"
            )
        }
        return rollout
    }

    /// In hundredths of a percent.
    private static func share(_ text: Substring) -> Int? {
        guard text.hasSuffix("%"), let percent = Double(text.dropLast()), (0.01...100).contains(percent) else {
            return nil
        }
        let share = (percent * 100).rounded()
        return abs(percent * 100 - share) < 1e-6 ? Int(share) : nil
    }
}
