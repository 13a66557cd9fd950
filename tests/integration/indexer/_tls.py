"""A TLS proxy before a web server without TLS. usage: _tls.py CERT KEY URL; prints its port."""
import http.server
import ssl
import sys
import urllib.request

cert, key, url = sys.argv[1:4]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        print(f"request key={self.headers.get('X-Key')}", file=sys.stderr, flush=True)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
