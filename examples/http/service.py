"""A weather service: answers a turn with server-sent events. Python 3, nothing else."""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        turn = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/cancel":
            self.send_response(204)
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        # Without a length the answer ends when the connection does.
        self.send_header("Connection", "close")
        self.end_headers()
        for event in answer(turn):
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
            self.wfile.flush()

    def log_message(self, *arguments):
        pass


def answer(turn):
    place = turn["text"].strip()
    if not place:
        yield {"type": "input_required", "text": "Where?"}
        return
    yield {"type": "status", "text": f"looking out of the window in {place}"}
    for hour, weather in [(9, "fog"), (12, "sun"), (18, "rain")]:
        yield {"type": "chunk", "text": f"{hour}h {weather}\n"}
        time.sleep(0.1)
    yield {"type": "data", "data": {"place": place, "degrees": 12}, "name": "numbers"}
    yield {"type": "reply", "text": f"That is the weather in {place}."}


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9000
    server = ThreadingHTTPServer(("127.0.0.1", port), Service)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
