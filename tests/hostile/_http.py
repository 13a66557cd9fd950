"""Reads HTTP answers from sockets and counts the seeds of a run. Shared by the generators that speak HTTP to
tidemark-api."""
import collections
import random
import re
import time

Answer = collections.namedtuple("Answer", "status chunked closes ours rest")  # ours: the program made it, not the library. rest: bytes behind it


class Failure(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failure(what)


def take_answer(raw, head):
    """The first whole answer; None when there is none yet. head: it answers a HEAD."""
    top, found, rest = raw.partition(b"\r\n\r\n")
    if not found:
        return None
    lines = top.split(b"\r\n")
    match = re.fullmatch(rb"HTTP/1\.[01] (\d{3})[ -~]*", lines[0])
    check(match, f"no status line: {lines[0][:100]}")
    status = int(match.group(1))
    fields = [(line.partition(b":")[0].lower(), line.partition(b":")[2].strip()) for line in lines[1:]]
    names = [name for name, _ in fields]
    check(all(re.fullmatch(rb"[!#-'*+.^-z|~-]+", name) for name in names), f"header lines: {top[:300]}")
    for name in (b"content-length", b"date", b"request-id", b"content-type", b"transfer-encoding"):
        check(names.count(name) <= 1, f"{name} twice: {top[:300]}")
    if status == 100:
        return take_answer(rest, head)
    values = dict(fields)
    chunked, closes, ours = b"transfer-encoding" in values, values.get(b"connection", b"").lower() == b"close", b"request-id" in values
    if chunked and not head:  # the stream: it has no end that a client waits for
        return Answer(status, True, closes, ours, b"")
    check(head or status in (204, 304) or b"content-length" in values, f"no length: {top[:300]}")
    length = 0 if head or status in (204, 304) else int(values[b"content-length"])
    return Answer(status, chunked, closes, ours, rest[length:]) if len(rest) >= length else None


def random_or_fixed(options):
    """The seeds that --seed N, --seeds FROM COUNT, --seeds N,N,… or --seconds S name, in order."""
    what, first, *more = options
    if what == "--seconds":
        end = time.monotonic() + float(first)
        while time.monotonic() < end:
            yield random.SystemRandom().randrange(1 << 40)
    elif what == "--seeds" and not more:
        yield from map(int, first.split(","))
    elif what == "--seeds":
        yield from range(int(first), int(first) + int(more[0]))
    else:
        yield int(first)
