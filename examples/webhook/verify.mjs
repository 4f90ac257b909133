// Checks the token of a notification by the keys that its server publishes. Node.js 20 or newer, nothing else.

import { createHash, createPublicKey, verify } from 'node:crypto';

const LEEWAY = 60; // seconds that two clocks may differ
const FRESH = 300; // seconds that fetched keys are used for: a key that was taken back is not good for longer
const PAUSE = 10; // seconds between fetches for keys that are not known: anybody can make up the id of a key
const HASHES = { ES256: 'sha256', EdDSA: null };

/** The notification is not what it says; sent again it would be the same. */
export class NotGenuine extends Error {}

function part(text) {
  let read;
  try {
    read = JSON.parse(Buffer.from(text, 'base64url'));
  } catch {
    // Said below.
  }
  if (read === null || typeof read !== 'object') throw new NotGenuine('no token that can be read');
  return read;
}

/** Believes one server (`issuer`, the address that it calls itself) in what it tells one receiver (`audience`, the origin). */
export class Verifier {
  #keys = new Map();
  #fetched = -Infinity;
  #asked = -Infinity;
  #asking;

  constructor({ issuer, audience }) {
    Object.assign(this, { issuer, audience });
  }

  /** What the token says of this body, which is given as it came: its bytes, before anything is read from them. */
  async claims(token, body, now = Date.now() / 1000) {
    const [, header, payload, signature] = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/.exec(token ?? '') ?? [];
    if (header === undefined) throw new NotGenuine('no token');
    const { kid, alg, typ } = part(header);
    const key = await this.#key(kid, now);
    // The algorithm is the key's: what a token says about it is said by whoever has made the token.
    if (!(key?.alg in HASHES) || alg !== key.alg || typ !== 'JWT') throw new NotGenuine('no key of the server');
    const signed = verify(
      HASHES[key.alg],
      Buffer.from(`${header}.${payload}`),
      { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    if (!signed) throw new NotGenuine('not signed by the key that it names');
    const claims = part(payload);
    if (claims.iss !== this.issuer) throw new NotGenuine('from another server');
    if (claims.aud !== this.audience) throw new NotGenuine('for another receiver');
    if (!(claims.iat <= now + LEEWAY && now - LEEWAY < claims.exp)) throw new NotGenuine('not of this time');
    const digest = createHash('sha256').update(body).digest('hex');
    if (claims.request_body_sha256 !== digest) throw new NotGenuine('of another body');
    return claims;
  }

  /** A key of the server. Where its keys are is known beforehand, and not from a token. */
  async #key(kid, now) {
    if (this.#isFresh(now) && this.#keys.has(kid)) return this.#keys.get(kid);
    // Whether it led to anything or not: everybody who comes meanwhile waits for the same answer.
    if (now - this.#asked > PAUSE) {
      this.#asked = now;
      this.#asking = this.#fetch(now);
    }
    await this.#asking;
    return this.#isFresh(now) ? this.#keys.get(kid) : undefined;
  }

  #isFresh(now) {
    return now - this.#fetched <= FRESH;
  }

  async #fetch(now) {
    const answer = await fetch(`${this.issuer}/.well-known/jwks.json`);
    if (!answer.ok) throw new Error(`the keys cannot be fetched: ${answer.status}`);
    const { keys } = await answer.json();
    this.#keys = new Map(keys.map((key) => [key.kid, key]));
    this.#fetched = now;
  }
}
