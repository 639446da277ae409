"""A relay on loopback that counts what goes through it, and can be as slow as a link between two devices."""
import collections
import contextlib
import queue
import socket
import threading
import time

Link = collections.namedtuple("Link", "rate delay")  # bytes a second, seconds one way


class Relay:
    """Listens on a free port, or on `port`; each connection goes on to `target`. Counts both ways together, as bytes come in (`bytes`) and as they
    go out (`delivered`). What goes to `target` is kept in the file `record`, if there is one."""

    def __init__(self, target, link=None, record=None, port=0):
        self.target, self.link, self.bytes, self.delivered = target, link, 0, 0
        self.record = open(record, "wb", buffering=0) if record else None
        self.lock, self.sockets, self.near = threading.Lock(), [], []
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in [self.listener, *self.sockets]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        if self.record:
            self.record.close()

    def cut(self):
        """Every connection ends, both ways: what was on the way does not arrive."""
        for each in self.sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
                self.sockets += [near, far]
                self.near.append(near)
                for source, sink in ((near, far), (far, near)):
                    sink.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    def carry(self, source, sink):
        try:
            (self.carry_slowly if self.link else self.carry_at_once)(source, sink)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # one side is gone: so is the other
            source.close()
            sink.close()

    def received(self, source, limit):
        while data := source.recv(limit):
            with self.lock:
                self.bytes += len(data)
                if self.record and source in self.near:
                    self.record.write(data)
            yield data

    def carry_at_once(self, source, sink):
        for data in self.received(source, 1 << 18):
            self.deliver(data, sink)

    def deliver(self, data, sink):
        sink.sendall(data)
        with self.lock:
            self.delivered += len(data)

    def carry_slowly(self, source, sink):
        """What comes in leaves at the link's rate and arrives after its delay. 64 kB may be on the way."""
        on_the_way = queue.Queue(maxsize=32)
        arrivals = threading.Thread(target=self.arrive, args=(on_the_way, sink), daemon=True)
        arrivals.start()
        source.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 15)  # the sender is to feel the link
        free = time.monotonic()
        try:
            for data in self.received(source, 2048):
                free = max(free, time.monotonic()) + len(data) / self.link.rate
                on_the_way.put((free + self.link.delay, data))
        finally:
            on_the_way.put((free + self.link.delay, b""))
            arrivals.join()

    def arrive(self, on_the_way, sink):
        while (item := on_the_way.get())[1]:
            time.sleep(max(0, item[0] - time.monotonic()))
            with contextlib.suppress(OSError):  # goes on emptying the queue, which somebody may wait to fill
                self.deliver(item[1], sink)
