#!/usr/bin/env bash
# First hour of an integrator: an empty folder, the SDK and an API key; the first program of the README, a custom
# program, and webhook deliveries. Needs Node 20, npm and curl. TATAMI_SERVER and TATAMI_TOKEN name the server and an
# API key; the argument is the SDK file from `npm pack`. The server must allow receivers on this machine
# (`--egress-allow 127.0.0.0/8`).
set -eu
sdk=$(realpath "$1")
docs=$(cd "$(dirname "$0")/../../docs" && pwd) # source of the examples
. "$(dirname "$0")/steps.sh"

say 'Inspect the API key'
curl -s -w '\n' "$TATAMI_SERVER/api/v1/me" -H "Authorization: Bearer $TATAMI_TOKEN" | tee "$work/seen"
shows '"workspace":\{' '"scopes":\['

say 'Set up a strict TypeScript project with the SDK'
mkdir app
cd app
npm init -y >/dev/null
npm pkg set type=module
npm install --silent "$sdk" typescript @types/node@20
cat >tsconfig.json <<'END'
{
  "compilerOptions": {
    "target": "es2022", "module": "nodenext", "types": ["node"], "outDir": "out",
    "strict": true, "exactOptionalPropertyTypes": true, "noUncheckedIndexedAccess": true,
    "skipLibCheck": true, "incremental": true
  },
  "include": ["*.ts"]
}
END

say 'Run the first calls of the README'
awk '/^```ts$/ { on = 1; next } /^```$/ && on { exit } on' node_modules/@tatami/sdk/README.md |
  sed "s|http://127.0.0.1:4700|$TATAMI_SERVER|" >first.ts
npx tsc
node out/first.js | tee "$work/seen"
shows '^Filed [A-Z]+-[0-9]+$'

say 'Write a custom program'
cat >own.ts <<'END'
import { ApiCallError, createClient } from '@tatami/sdk';

const { TATAMI_SERVER: server = '', TATAMI_TOKEN: token = '' } = process.env;
const tatami = createClient({ server, token });

// The same idempotency key creates one issue.
const order = { team: 'ENG', title: 'The invoice of order 4711 is empty' };
const [first, again] = [
  await tatami.issues.create(order, { idempotencyKey: 'order-4711' }),
  await tatami.issues.create(order, { idempotencyKey: 'order-4711' }),
];
console.log('once:', first.id === again.id);

// Create or update by external id.
for (const title of ['Ticket', 'Ticket, renamed'])
  await tatami.issues.external.put('helpdesk', 'T-1', { team: 'ENG', title });
console.log('there:', (await tatami.issues.external.get('helpdesk', 'T-1')).title);

// Pages of two.
for (const n of [1, 2, 3, 4, 5])
  await tatami.issues.create({ team: 'ENG', title: `Batch ${n}`, priority: 'high', labels: ['bug'] });
const titles: string[] = [];
for await (const issue of tatami.issues.list({
  filter: { title: { startsWith: 'Batch' }, label: 'BUG', createdAt: { gte: '-P1D' }, not: { priority: 'low' } },
  limit: 2,
}))
  titles.push(issue.title);
console.log('listed:', titles.join(', '));

// By identifier, which is missing only in a simulation.
const issue = await tatami.issues.get(first.identifier ?? first.id);
console.log('read:', issue.identifier, issue.title);

// Concurrent updates keep both labels.
await Promise.all(
  ['bug', 'question'].map((label) => tatami.issues.update(issue.id, { addLabels: [label] })),
);
const { labels } = await tatami.issues.get(issue.id);
console.log('labels:', labels.map(({ name }) => name).sort().join(', '));

// Errors have a code, fields, and a page with the remedy.
for (const wrong of [
  () => tatami.issues.create({ team: 'ENG', title: '' }),
  () => tatami.issues.list({ filter: { dueDate: 'tomorrow' } }),
  () => tatami.issues.get('NOPE-99'),
])
  try {
    await wrong();
    console.log('refused: nothing');
  } catch (error) {
    if (!(error instanceof ApiCallError)) throw error;
    console.log('refused:', error.code, error.details.map(({ path }) => path).join(), error.page);
  }
END
npx tsc
node out/own.js | tee "$work/seen"
shows '^once: true$' '^there: Ticket, renamed$' '^listed: Batch 5, Batch 4, Batch 3, Batch 2, Batch 1$' \
  '^read: ENG-[0-9]+ The invoice' '^labels: bug, question$' '^refused: validation_failed title' \
  '^refused: validation_failed filter.dueDate' '^refused: not_found'
for page in $(sed -n 's/^refused:.* //p' "$work/seen" | sort -u); do
  curl -sf "$page" | grep -q '<h1' || fail "no page at $page"
done

say 'The compiler rejects invalid values'
echo "import { createClient } from '@tatami/sdk';
await createClient({ server: '', token: '' }).issues.create({ team: 'ENG', title: 'x', priority: 'highest' });" >wrong.ts
refused npx tsc --noEmit
shows 'wrong.ts\(2,.*highest'
rm wrong.ts

say 'Run the Node webhook receiver of docs/webhooks.md'
awk '/^```js$/ { on = 1; next } /^```$/ && on { exit } on' "$docs/webhooks.md" >receiver.js
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })")
curl -s -w '\n' "$TATAMI_SERVER/api/v1/webhooks" -H "Authorization: Bearer $TATAMI_TOKEN" -H 'Content-Type: application/json' \
  -d "{\"url\":\"http://127.0.0.1:$port/hooks\",\"events\":[\"issue.created\"],\"filter\":{\"priority\":\"urgent\"}}" >"$work/seen"
shows '"secret":"whsec_'
secret=$(sed 's/.*"secret":"\([^"]*\)".*/\1/' "$work/seen")
TATAMI_WEBHOOK_SECRET=$secret PORT=$port node receiver.js >received &
started=($!)
soon grep listening received
file() {
  curl -s -w '\n' "$TATAMI_SERVER/api/v1/issues" -H "Authorization: Bearer $TATAMI_TOKEN" -H 'Content-Type: application/json' \
    -d "{\"team\":\"ENG\",\"title\":\"$1\",\"priority\":\"$2\"}"
}
file 'Can wait' low
file 'Cannot wait' urgent
soon grep 'issue.created Cannot wait' received
! grep 'Can wait' received || fail 'the filter let a wrong event through'

say 'A forged delivery is rejected'
curl -s -w ' %{http_code}\n' "http://127.0.0.1:$port/hooks" -d '{}' \
  -H "X-Webhook-Signature: v1=$(printf '0%.0s' $(seq 64)),t=$(date +%s)" | tee "$work/seen"
shows '^signature_mismatch 401$'

say 'First hour of an integrator: all steps passed.'
