#!/usr/bin/python3
"""Serves a folder on localhost, with the types and the policy that the page wants.

    examples/web/serve.py [--port 8000] [--isolated] FOLDER

--isolated sends the headers with which a page may share memory between threads (COOP, COEP). Where the port is taken, the next free one
is used; 0 is any. Prints the address.
"""
import argparse
import functools
import http.server
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".json": "application/json", ".svg": "image/svg+xml", ".wasm": "application/wasm",
         ".atlas": "text/plain; charset=utf-8", ".npy": "application/octet-stream"}
HEADERS = {"Content-Security-Policy": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; frame-ancestors 'self'",
           "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}
ISOLATED = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}
TRIED = 20


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, **TYPES}
    sent = HEADERS

    def end_headers(self):
        for name, value in self.sent.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_):
        pass


def listen(handler, port):
    for one in range(port, port + (TRIED if port else 1)):
        try:
            return http.server.ThreadingHTTPServer(("127.0.0.1", one), handler)
        except OSError as error:
            last = error
    raise SystemExit(f"ports {port} to {port + TRIED - 1}: {last.strerror}; --port names another")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--isolated", action="store_true")
    parser.add_argument("folder")
    given = parser.parse_args()
    Handler.sent = {**HEADERS, **(ISOLATED if given.isolated else {})}
    server = listen(functools.partial(Handler, directory=given.folder), given.port)
    print(f"http://localhost:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
