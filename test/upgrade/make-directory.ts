// Creates a packed data directory with this build, killed during work: `bun test/upgrade/make-directory.ts`. Run it
// before each release; the output is permanent, and every later build must open it. Before the first release, run it after each
// change of the baseline, whose checksum is in the directory.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { version } from '../../core/app/version.ts';
import { clientOf, startServer } from '../faults/server.ts';
import type { Client } from '../app.ts';
import { baseUrl, filesOf, writePacked } from './packed.ts';

const dir = mkdtempSync(join(tmpdir(), 'tatami-upgrade-'));
const main = join(import.meta.dir, '../../core/main.ts');
const looks = [
  '/api/v1/issues?limit=100',
  '/api/v1/issues?priority=high&sort=-createdAt',
  '/api/v1/labels',
  '/api/v1/teams',
  '/api/v1/members',
  '/api/v1/webhooks',
  '/api/v1/plugins',
  '/api/v1/inbox',
  '/api/v1/events?limit=100',
];

async function make(): Promise<void> {
  const init = Bun.spawnSync([
    process.execPath,
    main,
    ...['init', '--data-dir', dir, '--workspace', 'Acme', '--team', 'ENG', '--json'],
  ]);
  const { apiKey } = JSON.parse(init.stdout.toString()) as { apiKey: string };
  const { url, child } = await startServer(dir, { flags: ['--base-url', baseUrl] });
  const call = clientOf(url, apiKey);
  await fill(call);
  const answers: Record<string, unknown> = {};
  for (const path of looks) {
    const { status, json } = await call('GET', path);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    answers[path] = json;
  }
  await call('POST', '/api/v1/issues', { team: 'ENG', title: 'Crash right before the end' });
  child.kill('SIGKILL');
  await child.exited;
  const files = filesOf(dir, ['lock', 'tatami.db-shm']);
  const schema = schemaOf(join(dir, 'tatami.db'));
  const out = join(import.meta.dir, `directories/schema-${schema}.json.zst`);
  writePacked(out, { version, schema, key: apiKey, answers, files });
  console.log(`${out}: ${Bun.file(out).size} bytes`);
}

/** Creates objects of many entities, with an unreachable receiver, so that deliveries wait for their next attempt. */
async function fill(call: Client): Promise<void> {
  await call('POST', '/api/v1/webhooks', {
    url: 'https://hooks.example.invalid/tatami',
    events: ['issue.*'],
  });
  await call('POST', '/api/v1/labels', { name: 'Ärger 🦊', color: '#aa3300' });
  const project = (await call('POST', '/api/v1/projects', { name: 'Upgrade' })).json;
  for (let number = 1; number <= 12; number++) {
    const issue = (
      await call(
        'POST',
        '/api/v1/issues',
        {
          team: 'ENG',
          title: number % 2 ? `Crash when saving file ${number}` : `Please add a button ${number}`,
          description: 'The first line.\n'.repeat(number),
          priority: number % 3 ? 'high' : 'none',
          projectId: number % 4 ? null : project.id,
        },
        { 'idempotency-key': `upgrade-${number}` },
      )
    ).json;
    await call('POST', `/api/v1/issues/${issue.id}/comments`, { body: `Comment of ${number}` });
    if (number === 7) await call('DELETE', `/api/v1/issues/${issue.id}`);
    if (number === 8) await call('PATCH', `/api/v1/issues/${issue.id}`, { priority: 'urgent' });
  }
  await labelled(call);
}

/** Waits for the plugin's effects, which would otherwise follow after the comparison. */
async function labelled(call: Client): Promise<void> {
  for (;;) {
    const { data } = (await call('GET', '/api/v1/issues?limit=100')).json;
    if (data.every((issue: { labels: unknown[] }) => issue.labels.length > 0)) return;
    await Bun.sleep(100);
  }
}

function schemaOf(path: string): number {
  const db = new Database(path);
  const [row] = db.prepare('PRAGMA user_version').all() as { user_version: number }[];
  db.close();
  return row!.user_version;
}

await make();
rmSync(dir, { recursive: true });
