"""A replica that does what it is told, by HTTP at its own address of TF_CONFIG.

GET /tfconfig gives its TF_CONFIG; GET /exit?exitCode=N ends it with N.
"""
import http.server
import json
import os
import urllib.parse

config = json.loads(os.environ["TF_CONFIG"])
host, port = config["cluster"][config["task"]["type"]][config["task"]["index"]].rsplit(":", 1)


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked = urllib.parse.urlparse(self.path)
        self.send_response(200)
        self.end_headers()
        if asked.path == "/exit":
            self.wfile.flush()
            os._exit(int(urllib.parse.parse_qs(asked.query)["exitCode"][0]))
        self.wfile.write(os.environ["TF_CONFIG"].encode())


http.server.HTTPServer((host, int(port)), Answer).serve_forever()
