"""A receiver of push notifications that believes what is signed. Python 3, nothing else.

A POST is a notification. GET waits for the end of a task and tells what has come until then.
"""

import hashlib
import hmac
import json
import pathlib
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = pathlib.Path(__file__).with_name("secret.txt").read_bytes().strip()
OLDEST = 300  # seconds: an old notification may be somebody's recording

came = []
seen = set()
changed = threading.Condition()


def is_genuine(header, body):
    """Whether a body was signed a moment ago by somebody who knows the secret."""
    fields = dict(field.split("=", 1) for field in header.split(",") if "=" in field)
    seconds, digest = fields.get("t", ""), fields.get("v1", "")
    if not seconds.isdigit() or abs(time.time() - int(seconds)) > OLDEST:
        return False
    wanted = hmac.new(SECRET, seconds.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted, digest)


def told(body):
    """What a notification says, in a line, and whether it is of the end of a task."""
    kind, event = next(iter(body.items()))
    state = event["status"]["state"] if "status" in event else event["artifact"]["parts"][0]["text"]
    over = kind == "statusUpdate" and state in ("TASK_STATE_COMPLETED", "TASK_STATE_FAILED")
    return f"{kind}: {state}", over


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not is_genuine(self.headers.get("A2A-Notification-Signature", ""), body):
            self.answer(401, "not signed by anybody we know\n")
            return
        with changed:
            # What has come already comes again when its first answer was lost.
            name = self.headers["A2A-Notification-Id"]
            if name not in seen:
                seen.add(name)
                came.append(told(json.loads(body)))
            changed.notify_all()
        self.answer(200, "")

    def do_GET(self):
        with changed:
            changed.wait_for(lambda: any(over for _, over in came), timeout=30)
            lines = [line for line, _ in came]
        self.answer(200, "".join(line + "\n" for line in lines))

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9002
    server = ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
