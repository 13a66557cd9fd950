"""A clock for upper limits on durations: it counts only the seconds in which this machine ran.

A shared machine can pause for seconds, and the program under test is not to blame for that. A thread ticks; at
most MOST seconds count between two ticks. For lower limits use time.monotonic().
"""
import threading
import time

EVERY, MOST = 0.02, 0.25


class _Ticks(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.last, self.total, self.lock = time.monotonic(), 0.0, threading.Lock()

    def read(self):
        with self.lock:
            now = time.monotonic()
            self.total, self.last = self.total + min(now - self.last, MOST), now
            return self.total

    def run(self):
        while True:  # until the test ends: a daemon thread
            time.sleep(EVERY)
            self.read()


_ticks = _Ticks()
_ticks.start()


def steady():
    """Seconds since the import, never more than the wall's."""
    return _ticks.read()
