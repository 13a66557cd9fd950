"""usage: _rpc_liar.py FOLDER URL LAKE   an RPC server beside an honest one at URL, and a web server over the folder LAKE

Listens on a port of its own, written into FOLDER/port, and answers as the words in FOLDER/mode say:

  honest       as the other server, and the lake as it is
  tip [N]      tells a newest ledger far behind all, or N
  passphrase   names a network in bytes that are no UTF-8
  gone         keeps no ledger that is asked for
  gap          has later ledgers, and leaves the wanted one out
  early        gives the ledger after the newest one before it closes: a forged one, written into FOLDER/forged once it was given
  slow S       tells a newest ledger far behind all, and gives one ledger in S seconds
  huge N       the lake's objects from ledger N on say that they have ten TiB
  arm N        … are those of a newer protocol
"""
import http.server
import json
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from _forge import Early  # noqa: E402

FOLDER, HONEST, LAKE = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
FAR = 4000000000


def ask(question):
    request = urllib.request.Request(HONEST, json.dumps(question).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def result(method, params):
    return ask({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})["result"]


early = Early(result)


def give_early(question):
    answer = early.answer(question["method"], question["params"])
    given = [f"{entry['sequence']} {entry['hash']}\n" for entry in answer.get("ledgers", []) if entry["sequence"] in early.forged]
    if given:
        with early.lock:
            (FOLDER / "new.forged").write_text("".join(given))
            (FOLDER / "new.forged").rename(FOLDER / "forged")
    return {"jsonrpc": "2.0", "id": question["id"], "result": answer}


def lie(mode, words, method, answer):
    result, error = answer.get("result"), answer.get("error")
    if method == "getLatestLedger" and mode in ("gap", "slow"):
        result["sequence"] = FAR
    if method != "getLedgers":
        return answer
    if mode == "gone":
        return {"jsonrpc": "2.0", "id": answer["id"], "error": {"code": -32600, "message":
                f"start ledger must be between the oldest ledger: {FAR} and the latest ledger: {FAR + 1} for this rpc instance"}}
    if mode == "gap":
        return {"jsonrpc": "2.0", "id": answer["id"], "result": {"ledgers": [], "latestLedger": FAR, "oldestLedger": 2, "cursor": ""}}
    if mode == "tip" and error:
        error["message"] = re.sub(r"(latest ledger: |ledger range: \d+ - )\d+", rf"\g<1>{words[0] if words else FAR}", error["message"])
    if mode in ("tip", "slow") and result:
        result["latestLedger"] = int(words[0]) if mode == "tip" and words else FAR
    return answer


def newer(packed):
    """The object with another version of its first ledger, without the checksum that would tell."""
    plain = bytearray(subprocess.run(["zstd", "-dc"], input=packed, stdout=subprocess.PIPE, check=True).stdout)
    plain[12:16] = b"\0\0\0\x63"
    return subprocess.run(["zstd", "-c", "--no-check"], input=bytes(plain), stdout=subprocess.PIPE, check=True).stdout


class Liar(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def send(self, status, body, length=None):
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)
        except OSError:
            pass

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        mode, *words = (FOLDER / "mode").read_text().split()
        if mode != "early":
            early.forged.clear()
        if mode == "slow" and question["method"] == "getLedgers":
            question["params"]["pagination"]["limit"] = 1
            time.sleep(float(words[0]))
        self.close_connection = mode == "passphrase"  # the next question comes with one for the network
        if mode == "passphrase" and question["method"] == "getNetwork":
            return self.send(200, b'{"jsonrpc":"2.0","id":%d,"result":{"passphrase":"\xff\xfe net"}}' % question["id"])
        if mode == "early" and question["method"] in ("getLatestLedger", "getLedgers"):
            return self.send(200, json.dumps(give_early(question)).encode())
        return self.send(200, json.dumps(lie(mode, words, question["method"], ask(question))).encode())

    def do_GET(self):
        mode, *words = (FOLDER / "mode").read_text().split()
        path = LAKE / self.path.lstrip("/")
        number = re.search(r"--(\d+)\.xdr", self.path)
        lies = number and words and int(number[1]) >= int(words[0])
        if not path.is_file():
            return self.send(404, b"")
        if lies and mode == "huge":
            return self.send(200, b"", 10 << 40)
        return self.send(200, newer(path.read_bytes()) if lies and mode == "arm" else path.read_bytes())

    do_HEAD = do_GET


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
server.daemon_threads = True
(FOLDER / "port").write_text(str(server.server_address[1]))
server.serve_forever()
