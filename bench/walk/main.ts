// `npm run walk [-- --list]`: counts the modules of `core` that one request and
// one plugin run execute in the server's main thread. A reader of either follows these files.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../core/app/config/config.ts';
import { serve } from '../../core/app/serve/serve.ts';
import { createWorkspace } from '../../core/app/setup/first-workspace.ts';
import { touch } from '../plugins.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tatami-walk-'));
const tatami = await serve({ config: readConfig({ dataDir, port: '0' }, {}), log: () => undefined });
const { apiKey } = await createWorkspace(tatami.services, tatami.committer, {
  name: 'Walk',
  teamKey: 'ENG',
  teamName: 'Engineering',
  ownerName: 'Owner',
});

async function call(method: string, path: string, body: object): Promise<void> {
  const response = await fetch(`${tatami.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
}
const create = (): Promise<void> => call('POST', '/issues', { title: 'Walk', team: 'ENG' });

function report(what: string, files: ReadonlySet<string>): void {
  console.log(`${what}: ${files.size} modules`);
  if (process.argv.includes('--list')) for (const file of [...files].toSorted()) console.log(`  ${file}`);
}

// The second request of a kind finds the caches warm.
await create();
await tatami.settled();
globalThis.walked = new Set();
await create();
report('POST /issues', globalThis.walked);

await call('POST', '/plugins', { package: await touch(), grant: ['issues:write'], probation: false });
await create();
await tatami.settled();
globalThis.walked = undefined;
tatami.committer.onCommit(() => (globalThis.walked ??= new Set()));
await create();
await tatami.settled();
report('issue.created → committed effect', globalThis.walked ?? new Set());

await tatami.stop();
rmSync(dataDir, { recursive: true });
process.exit(0);
