// Runs checks one after the other and reports each on a line of its own.
//
// A check is an asynchronous function whose name says what holds. Its line is `ok <name>` or
// `FAILED <name>: <reason>`; the last line counts both.

import { AssertionError, deepStrictEqual } from 'node:assert';
import { createServer } from 'node:http';

// A server that does not answer must not stop the run. None of the checks takes a second; a slow or a halted
// machine is no reason to fail.
const PATIENCE = 600_000;

/** Both are shown when they differ. */
export function same(actual, expected) {
  try {
    deepStrictEqual(actual, expected);
  } catch {
    const message = `expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
    throw new AssertionError({ message, actual, expected, stackStartFn: same });
  }
}

export function oneOf(actual, allowed) {
  if (!allowed.includes(actual)) {
    throw new AssertionError({ message: `${actual} is none of ${allowed}`, stackStartFn: oneOf });
  }
}

/** The errors that the calls end with; it is a failure when one ends without. */
export async function errorsOf(...calls) {
  const outcomes = await Promise.allSettled(calls);
  return outcomes.map((outcome) => {
    if (outcome.status === 'fulfilled') {
      throw new AssertionError({ message: `no error, but ${JSON.stringify(outcome.value)}` });
    }
    return outcome.reason;
  });
}

/** Everything that a stream brings. */
export async function collected(stream) {
  const events = [];
  for await (const event of stream) {
    events.push(event);
  }
  return events;
}

/** A webhook on this machine. `until` gives the bodies of what it is told, up to the one that is asked for. */
export async function receiver(token) {
  const bodies = [];
  let came = () => {};
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) {
      pieces.push(piece);
    }
    same(request.headers['x-a2a-notification-token'], token);
    response.writeHead(204).end();
    bodies.push(JSON.parse(Buffer.concat(pieces)));
    came();
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const until = async (isLast) => {
    while (!bodies.some(isLast)) {
      await new Promise((resolve) => { came = resolve; });
    }
    return bodies;
  };
  return { url: `http://127.0.0.1:${server.address().port}/hook`, until };
}

/** Runs every check, whatever became of the ones before it, and ends the process. */
export async function run(checks) {
  let failed = 0;
  for (const check of checks) {
    const name = check.name.replaceAll('_', ' ');
    try {
      await inTime(check());
      console.log(`ok ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${name}: ${String(error).replaceAll(/\s+/g, ' ')}`);
      console.error(error);
    }
  }
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

async function inTime(check) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${PATIENCE} ms`)), PATIENCE);
  });
  try {
    return await Promise.race([check, late]);
  } finally {
    clearTimeout(timer);
  }
}
