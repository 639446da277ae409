import Foundation
import ShipStore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What is published below a URL, as it is fetched while the app is in front.
struct PublishedRecipes: Sendable {
    let url: URL
    let consumer: Consumer

    /// Takes what is new.
    func look() async throws -> [Receipt] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await consumer.receive(published: Endpoint(url.absoluteString)) { [url] file in
            var request = URLRequest(url: url.appendingPathComponent(file.path))
            if file.isFresh { request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData }
            let kept = folder.appendingPathComponent(UUID().uuidString)
            let response: URLResponse
            if file.path == "head" {
                // The session's cache has the last one with its ETag.
                let (head, answer) = try await URLSession.shared.data(for: request)
                try head.write(to: kept)
                response = answer
            } else {
                let (arrived, answer) = try await URLSession.shared.download(for: request)
                try FileManager.default.moveItem(at: arrived, to: kept)
                response = answer
            }
            switch (response as? HTTPURLResponse)?.statusCode {
            case 200: return FilePath(kept)
            case 404, 410: return nil
            default: throw URLError(.badServerResponse)
            }
        }
    }
}
