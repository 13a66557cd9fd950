"""Receives notifications: WEBHOOK_SECRET=whsec_… python hooks.py"""
import http.server
import json
import os

from tidemark_client import WebhookError, verify_webhook

SEEN = set()  # a real server keeps these ids in its database


class Hooks(http.server.BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 65536))
        try:
            one = verify_webhook(body, dict(self.headers), os.environ["WEBHOOK_SECRET"])
        except WebhookError:
            self.send_error(400)
            return
        if one.id not in SEEN:
            print(one.type, json.dumps(one.data, default=str), flush=True)
        SEEN.add(one.id)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format, *args):
        pass


SERVER = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9090"))), Hooks)
print(f"http://127.0.0.1:{SERVER.server_address[1]}/hooks", flush=True)
SERVER.serve_forever()
