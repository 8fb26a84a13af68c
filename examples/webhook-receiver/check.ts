// Checks that the receiver processes each event exactly once: real server, real receiver process, forged and altered
// deliveries, replays, and a kill in the middle. Run: `bun examples/webhook-receiver/check.ts`
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@tatami/sdk/client';
import { startServer, tatami } from '../main-job/server.ts';

const dir = mkdtempSync(join(tmpdir(), 'tatami-receiver-'));
const journal = join(dir, 'events.jsonl');

function check(what: string, holds: boolean, detail: unknown = ''): void {
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${what} ${holds ? '' : JSON.stringify(detail)}`.trimEnd());
  if (!holds) process.exitCode = 1;
}

/** Polls rarely enough to stay below the rate limit, because a rate-limited client waits for the next minute. */
async function until(what: string, holds: () => boolean | Promise<boolean>, seconds = 60): Promise<void> {
  for (const end = performance.now() + seconds * 1000; !(await holds()); await Bun.sleep(150))
    if (performance.now() > end) throw new Error(`It took longer than ${seconds} s until ${what}.`);
}

interface Entry {
  id?: string;
  sequence?: number;
}

const received = (): string[] =>
  (existsSync(journal) ? readFileSync(journal, 'utf8') : '')
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => (JSON.parse(line) as Entry).id ?? []);

const { apiKey } = await tatami<{ apiKey: string }>(
  'init',
  '--data-dir',
  join(dir, 'data'),
  '--workspace',
  'Acme',
  '--team',
  'ENG',
);
const server = await startServer(join(dir, 'data'));
const remote = ['--server', server.url, '--token', apiKey];
const client = createClient({ server: server.url, token: apiKey });

const free = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
const url = `http://127.0.0.1:${free.port}/`;
await free.stop(true);
const endpoint = await tatami<{ id: string; secret: string }>(
  'webhooks',
  'create',
  '--url',
  url,
  '--events',
  'issue.created',
  ...remote,
);

async function startReceiver(...more: string[]) {
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, 'main.ts'),
      '--port',
      new URL(url).port,
      '--journal',
      journal,
      ...more,
    ],
    { env: { ...process.env, TATAMI_WEBHOOK_SECRET: endpoint.secret }, stdout: 'ignore', stderr: 'ignore' },
  );
  await until('the receiver listens', () =>
    fetch(url).then(
      ({ status }) => status === 405,
      () => false,
    ),
  );
  return child;
}

async function file(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await client.issues.create({ team: 'ENG', title: `Crash nº ${n}` });
}

const feed = async (): Promise<string[]> =>
  (await client.events.list({ types: 'issue.created', limit: 100 })).data.map(({ id }) => id);
const hasAll = async (): Promise<boolean> => {
  const has = new Set(received());
  return (await feed()).every((id) => has.has(id));
};

const open = async (): Promise<number> => {
  const counts = await Promise.all(
    (['pending', 'delivering', 'retrying'] as const).map((status) =>
      client.webhooks.deliveries(endpoint.id, { status }),
    ),
  );
  return counts.reduce((sum, { data }) => sum + data.length, 0);
};

let receiver = await startReceiver();
try {
  await file(20);
  await until('all events are received', hasAll);
  check('20 issues arrive, each once', received().length === 20, received());

  const [delivery] = await tatami<{ id: string }[]>('webhooks', 'deliveries', endpoint.id, ...remote);
  const { payload, attemptList } = await client.deliveries.get(delivery?.id ?? '');
  const headers = attemptList[0]?.requestHeaders ?? {};
  const post = async (body: string, of: Record<string, string>): Promise<number> =>
    (await fetch(url, { method: 'POST', body, headers: of })).status;
  check('an altered body is 401', (await post(payload.replace('Crash', 'Crush'), headers)) === 401);
  check('no signature is 401', (await post(payload, {})) === 401);
  check('an authentic known event is 200, and is not stored again', (await post(payload, headers)) === 200);

  for (const { id } of await tatami<{ id: string }[]>(
    'webhooks',
    'deliveries',
    endpoint.id,
    '--limit',
    '5',
    ...remote,
  ))
    await tatami('deliveries', 'replay', id, ...remote);
  await tatami('webhooks', 'replay', endpoint.id, '--since', '1h', ...remote);
  await until('nothing is under way', async () => (await open()) === 0);
  check('replays succeed and add nothing', received().length === 20, received().length);

  receiver.kill('SIGKILL');
  await receiver.exited;
  await file(5);
  receiver = await startReceiver();
  await until('the deliveries are retried', hasAll);
  check('5 issues created while it was down arrive by retry', received().length === 25, received().length);

  receiver.kill('SIGKILL');
  await receiver.exited;
  await file(5);
  receiver = await startReceiver('--server', server.url, '--token', apiKey, '--events', 'issue.created');
  await until('the feed is read', hasAll);
  check('5 more are read from the feed', received().length === 30, received().length);
  await until('the retries have arrived', async () => (await open()) === 0);
  const ids = received();
  check('each event is in the journal once', ids.length === 30 && new Set(ids).size === 30, ids.length);
} finally {
  receiver.kill('SIGKILL');
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}
console.log(process.exitCode ? '\nThe receiver failed.' : '\nThe receiver stored each event once.');
