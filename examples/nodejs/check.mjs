// Asks a Murmurate node before each piece of work, and waits as it is told.
// Needs Node.js 18 or later and nothing else.
//
//   go run ./cmd/murmurate serve
//   node examples/nodejs/check.mjs http://127.0.0.1:7380 12
import { setTimeout as sleep } from 'node:timers/promises';

const [server = 'http://127.0.0.1:7380', calls = '12'] = process.argv.slice(2);

// A limit of the caller's own: 10 calls at once, then 5 a second.
const limit = { name: 'nodejs', algorithm: 'token_bucket', rate: '5/s', burst: 10 };

// check resolves to the decision. A denial is an answer, not an error.
async function check(key) {
  const response = await fetch(`${server}/v1/check`, {
    method: 'POST',
    body: JSON.stringify({ key, limit }),
    signal: AbortSignal.timeout(1000),
  });
  if (response.headers.get('content-type') !== 'application/json') {
    throw new Error(`the limiter answered ${response.status}: ${await response.text()}`);
  }
  return response.json();
}

// admitted waits until the key may go on.
async function admitted(key) {
  for (;;) {
    const decision = await check(key);
    if (decision.allowed) return decision;
    if (decision.retry_after_ms < 0) throw new Error('the limit never lets this through');
    console.log(`denied, waiting ${decision.retry_after_ms} ms`);
    await sleep(Math.max(1, decision.retry_after_ms));
  }
}

for (let call = 1; call <= Number(calls); call++) {
  const { remaining, source } = await admitted('nodejs-example');
  console.log(`call ${call}: allowed, ${remaining} left (${source})`);
}
