"""S3-compatible storage on loopback, moto's, and what counts the requests that go to it."""
import contextlib
import os
import urllib.request

from relay import Relay
from turn import Process, free_port, wait_for_listener

BUCKET, KEYS = "bench", {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
REQUEST = b" HTTP/1.1\r\n"  # in the first line of each, and in no answer's


class Counter(Relay):
    """Counts requests, and the bytes of each way, headers included."""

    def __init__(self, target):
        self.requests, self.up, self.down = 0, 0, 0
        super().__init__(target)

    def received(self, source, limit):
        asks, end = source in self.near, b""
        for data in super().received(source, limit):
            with self.lock:
                if asks:
                    self.requests += (end + data).count(REQUEST)
                    self.up += len(data)
                    end = (end + data)[1 - len(REQUEST):]
                else:
                    self.down += len(data)
            yield data

    def counts(self):
        with self.lock:
            return self.requests, self.up, self.down


def since(before, after):
    return tuple(late - early for early, late in zip(before, after))


@contextlib.contextmanager
def served(moto, folder):
    """The port of a server with an empty bucket."""
    port = free_port()
    with Process([moto, "-p", str(port)], os.path.join(folder, "moto"), {}) as server:
        wait_for_listener(port, server)
        signature = "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request"
        urllib.request.urlopen(urllib.request.Request(
            f"http://127.0.0.1:{port}/{BUCKET}", method="PUT", headers={"Authorization": signature})).close()
        yield port
