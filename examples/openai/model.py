"""A stand-in for a model server: speaks as much of the chat completions API as is needed to try the
example without a model. Python 3, nothing else."""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        said = [message for message in request["messages"] if message["role"] == "user"]
        words = f"You have told me {len(said)} things, the last one: {said[-1]['content']}".split(" ")
        for word in words:
            self.event(choices=[{"index": 0, "delta": {"content": word + " "}, "finish_reason": None}])
            time.sleep(0.02)
        self.event(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
        self.event(choices=[], model=request["model"], usage={"completion_tokens": len(words)})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, **members):
        self.wfile.write(b"data: " + json.dumps(members).encode() + b"\n\n")
        self.wfile.flush()

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9001
    server = ThreadingHTTPServer(("127.0.0.1", port), Model)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
