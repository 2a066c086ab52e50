#!/usr/bin/env python3
"""Serves the engine of a current ClickHouse (the wheel chdb-core) as its HTTP interface does.

    pip install --no-deps chdb-core
    current.py FOLDER [PORT]

It prints the port that it listens on, on loopback, and serves until it is killed. One
statement runs at a time. What loupe sends is understood, and no more: POST with the
statement as the body, or as ?query= with rows as the body; ?default_format= names the
format of the answer. Settings are left out, those of one statement would stay.
"""
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from chdb import session

engine = session.Session(sys.argv[1])
engine.query("SET max_query_size = 100000000")
engine.query("SET max_ast_elements = 5000000")
engine.query("SET max_threads = 1")
engine.query("SET max_expanded_ast_elements = 5000000")
one = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for head and body: two would wait for each other
    disable_nagle_algorithm = True

    def do_POST(self):
        values = parse_qs(urlsplit(self.path).query)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        statement = body.decode("utf-8", "surrogateescape")
        if "query" in values:
            statement = values["query"][0] + "\n" + statement
        try:
            with one:
                answer = engine.query(statement, values.get("default_format", ["TabSeparated"])[0])
                data = answer.bytes() if answer is not None else b""
            code = 200
        except Exception as e:
            data, code = str(e).encode("utf-8", "replace"), 500
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
