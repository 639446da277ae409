#if os(iOS)
    import Foundation
    import ShipStore

    /// The same while the app is not in front: the system downloads each file in its own time, and starts the app when it is there. Make it
    /// as the app starts.
    final class DownloadedRecipes: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
        private let url: URL
        private let consumer: Consumer
        /// What has come and is not taken yet.
        private let arrived: URL
        /// Set once, in `init`.
        private var session: URLSession?

        /// - Parameter support: The app's folder for what no user sees.
        init(at url: URL, for consumer: Consumer, in support: URL) throws {
            (self.url, self.consumer, arrived) = (url, consumer, support.appendingPathComponent("Arrived"))
            try FileManager.default.createDirectory(at: arrived, withIntermediateDirectories: true)
            super.init()
            session = URLSession(
                configuration: .background(withIdentifier: "recipes"), delegate: self, delegateQueue: nil)
        }

        /// Takes what has come, or has the next file downloaded. Call it when the app is refreshed; files that come call it.
        func look() async {
            do {
                _ = try await consumer.receive(published: Endpoint(url.absoluteString)) { [self] file in
                    let kept = place(of: file.path)
                    if FileManager.default.fileExists(atPath: kept.path) { return FilePath(kept) }
                    await download(file)
                    throw CancellationError()
                }
                // Everything is taken, and the next look begins with the head of then.
                try FileManager.default.removeItem(at: arrived)
                try FileManager.default.createDirectory(at: arrived, withIntermediateDirectories: true)
            } catch ShipmentError.stopped {
                // A file is on its way.
            } catch {
                print(error)
                try? FileManager.default.removeItem(at: place(of: "head"))
            }
        }

        private func download(_ file: PublishedFile) async {
            guard let session, await !session.allTasks.contains(where: { $0.taskDescription == file.path }) else {
                return
            }
            let task = session.downloadTask(with: url.appendingPathComponent(file.path))
            task.taskDescription = file.path
            task.countOfBytesClientExpectsToReceive = file.sizeLimit
            task.resume()
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo file: URL
        ) {
            guard let path = downloadTask.taskDescription,
                (downloadTask.response as? HTTPURLResponse)?.statusCode == 200
            else { return }
            // The system removes it when this returns.
            try? FileManager.default.moveItem(at: file, to: place(of: path))
            Task { await look() }
        }

        private func place(of path: String) -> URL {
            arrived.appendingPathComponent(path.replacingOccurrences(of: "/", with: "-"))
        }
    }
#endif
