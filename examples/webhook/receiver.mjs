// A receiver of push notifications that knows nothing of the server but where it is. Node.js 20 or newer.
//
// A POST is a notification. GET waits for the end of a task and tells what has come until then.

import { createServer } from 'node:http';
import { NotGenuine, Verifier } from './verify.mjs';

const [port = '9003', issuer = 'http://127.0.0.1:8000'] = process.argv.slice(2);
const came = [];
const seen = new Set();
const waiting = [];

/** What a notification says, in a line. */
function told(body) {
  const [[kind, event]] = Object.entries(body);
  const [first] = event.artifact?.parts ?? [];
  return `${kind}: ${event.status?.state ?? first?.text}`;
}

const isOver = () => came.some((line) => /COMPLETED|FAILED/.test(line));

async function take(request, body) {
  // Sent whatever else is: `Authorization` may hold what the client asked for when it named this webhook.
  const claims = await verifier.claims(request.headers['a2a-notification-jwt'], body);
  // What has come already comes again when its first answer was lost, or when somebody has recorded it.
  if (seen.has(claims.notification_id)) return;
  seen.add(claims.notification_id);
  came.push(told(JSON.parse(body)));
  if (isOver()) waiting.splice(0).forEach((resume) => resume());
}

const server = createServer(async (request, response) => {
  try {
    if (request.method === 'POST') {
      const pieces = [];
      for await (const piece of request) pieces.push(piece);
      await take(request, Buffer.concat(pieces));
      response.end();
    } else {
      if (!isOver()) await new Promise((resume) => waiting.push(resume));
      response.end(came.map((line) => `${line}\n`).join(''));
    }
  } catch (error) {
    // Without the keys nothing can be said, so the server is asked to come again.
    response.statusCode = error instanceof NotGenuine ? 401 : 503;
    response.end(`${error.message}\n`);
  }
});

let verifier;
server.listen(Number(port), '127.0.0.1', () => {
  const audience = `http://127.0.0.1:${server.address().port}`;
  verifier = new Verifier({ issuer, audience });
  console.log(`listening on ${audience}`);
});
