#!/usr/bin/env python3
"""A proxy before a Stellar RPC server that refuses pages of getLedgers, as servers, gateways and providers do.

usage: _refuse.py UPSTREAM [--seed N] [--most N] [--share P] [--ways WAY,…] [--log FILE]

Prints its port. A page of more than --most ledgers is refused in a way that the seed draws, and of the others a share.
What the server answers is passed on unchanged. A line per request of getLedgers is written to the log: the first
ledger, the number of ledgers, and the way, or `given`. GET /most/N sets --most anew.
"""
import argparse
import http.server
import json
import random
import socketserver
import threading
import urllib.error
import urllib.request

HTML = "<html>\r\n<head><title>{0}</title></head>\r\n<body>\r\n<center><h1>{0}</h1></center>\r\n</body>\r\n</html>\r\n"
MORE = 1200 << 10  # more than --object-max-mib 1 allows


def rpc_error(code, message, number=True):
    def refuse(handler, request, body):
        error = {"jsonrpc": "2.0", "id": request["id"] if number else None, "error": {"code": code, "message": message}}
        handler.send(200, json.dumps(error).encode())
    return refuse


def status(code, text, headers=()):
    def refuse(handler, request, body):
        handler.send(code, HTML.format(f"{code} {text}").encode(), headers)
    return refuse


def cut(handler, request, body):
    handler.send(200, body[:len(body) // 2], claimed=len(body))


def larger(handler, request, body):
    handler.send(200, body + b" " * (MORE - len(body)))


def hang(handler, request, body):
    handler.connection.settimeout(60)
    handler.connection.recv(1)  # the client gives up
    handler.close_connection = True


WAYS = {
    "processing": rpc_error(-32001, "[-32001] request exceeded processing limit threshold"),
    "limit": rpc_error(-32602, "limit exceeded"),
    "most": rpc_error(-32600, "limit must not exceed 20"),
    "queue": rpc_error(-32098, "rpc queue for getLedgers surpassed queue limit of 1 requests"),
    "nameless": rpc_error(-32005, "daily request count exceeded, request rate limited", number=False),
    "413": status(413, "Request Entity Too Large"),
    "429": status(429, "Too Many Requests"),
    "502": status(502, "Bad Gateway"),
    "504": status(504, "Gateway Time-out"),
    "cut": cut,
    "larger": larger,
    "hang": hang,
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def send(self, code, body, headers=(), claimed=None):
        self.send_response(code)
        self.send_header("Content-Type", "application/json" if code == 200 else "text/html")
        self.send_header("Content-Length", str(claimed or len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.close_connection or claimed is not None

    def do_GET(self):
        self.server.most = int(self.path.rsplit("/", 1)[-1])
        self.send(200, b"")

    def do_POST(self):
        server, asked = self.server, self.rfile.read(int(self.headers["Content-Length"]))
        request = json.loads(asked)
        try:
            with urllib.request.urlopen(urllib.request.Request(server.upstream, asked, {"Content-Type": "application/json"}), timeout=30) as answer:
                body = answer.read()
        except urllib.error.HTTPError as error:
            return self.send(error.code, error.read())
        way = server.draw(request)
        if way == "given":
            return self.send(200, body)
        return WAYS[way](self, request, body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):  # a client that gave up
        pass

    def draw(self, request):
        """How a request is answered. The range that is asked for at the start is not refused."""
        if request["method"] != "getLedgers" or request["params"]["startLedger"] == 2:
            return "given"
        first, count = request["params"]["startLedger"], request["params"]["pagination"]["limit"]
        with self.lock:
            refused = count > self.most or self.dice.random() < self.share
            way = self.dice.choice(self.ways) if refused else "given"
            print(first, count, way, file=self.log, flush=True)
        return way


def main():
    options = argparse.ArgumentParser()
    options.add_argument("upstream")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--most", type=int, default=200)
    options.add_argument("--share", type=float, default=0)
    options.add_argument("--ways", default=",".join(WAYS))
    options.add_argument("--log", default="/dev/null")
    o = options.parse_args()
    server = Server(("127.0.0.1", 0), Handler)
    server.upstream, server.most, server.share = o.upstream, o.most, o.share
    server.dice, server.ways, server.lock = random.Random(o.seed), o.ways.split(","), threading.Lock()
    server.log = open(o.log, "a")
    print(server.server_port, flush=True)
    server.serve_forever()


main()
