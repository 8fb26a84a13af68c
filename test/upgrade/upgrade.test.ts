// A data directory of an earlier build, killed during work, opens in a later one with all its data, despite faults during
// the upgrade. The later build is this one with two more migrations. docs/spec/durability.md › Migrations.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { migrate } from '../../core/platform/store/migrate.ts';
import { migrations } from '../../core/platform/store/migrations/index.ts';
import type { Client, Json } from '../app.ts';
import { ended, spawnTatami } from '../cli/tatami.ts';
import { clientOf, startServer } from '../faults/server.ts';
import { laterMigrations } from '../faults/later-migrations.ts';
import { hasStrace, underFault } from '../faults/strace.ts';
import { baseUrl, readPacked, unpack, type PackedDirectory } from './packed.ts';

const folder = join(import.meta.dir, 'directories');
const directories = readdirSync(folder).toSorted();
/** Its upgrade includes all steps of newer ones; TATAMI_LONG=1 kills the upgrades of those as well. */
const oldest = 'schema-1.json.zst';
/** Flags of Bun with which a process is the later build. */
const later = ['--preload', join(import.meta.dir, 'as-later-build.ts')];
const isLong = process.env.TATAMI_LONG !== undefined;
const opener = join(import.meta.dir, '../faults/open-process.ts');
const parent = mkdtempSync(join(tmpdir(), 'tatami-upgrade-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

let unpackings = 0;
function unpacked(packed: PackedDirectory): string {
  const dir = join(parent, String(++unpackings));
  unpack(packed, dir);
  return dir;
}

/** Lists whose entries change with background work; their entries are compared by stable fields. */
const stays: Readonly<Record<string, readonly string[]>> = {
  '/api/v1/webhooks': ['id', 'url', 'events', 'createdAt'],
};

async function expectAllOfIt(call: Client, { answers }: PackedDirectory): Promise<void> {
  for (const [path, answer] of Object.entries(answers)) {
    const now = (await call('GET', path)).json as { data: Json[] };
    for (const then of (answer as { data: Json[] }).data) {
      const same =
        now.data.find(({ id }) => id === then.id) ??
        (await call('GET', `${path.split('?')[0]}/${then.id}`)).json;
      const comparedFields = stays[path];
      const wanted = comparedFields
        ? Object.fromEntries(comparedFields.map((key) => [key, then[key]]))
        : then;
      expect(same, `${path} ${then.id}`).toMatchObject(wanted);
    }
  }
}

async function untilLabelled(call: Client, title: string): Promise<void> {
  for (const until = Date.now() + 40_000; Date.now() < until;) {
    const { data } = (await call('GET', '/api/v1/issues?limit=100')).json as { data: Json[] };
    if (data.find((issue) => issue.title === title)?.labels.length > 0) return;
    await Bun.sleep(50);
  }
  throw new Error(`${title} got no label`);
}

// Each directory is separate, and the tests mostly wait for processes.
describe.concurrent.each(directories)('%s', (file) => {
  const packed = readPacked(join(folder, file));

  test('the upgrade preserves all data, continues the work, and leaves a snapshot', async () => {
    const dir = unpacked(packed);
    const { url, child } = await startServer(dir, { flags: ['--base-url', baseUrl], bunFlags: later });
    const call = clientOf(url, packed.key);
    await expectAllOfIt(call, packed);
    await untilLabelled(call, 'Crash right before the end');
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    expect(contents(join(dir, 'tatami.db')).schema).toBe(laterMigrations.length);
    expect(
      readdirSync(join(dir, 'snapshots')).filter((name) => name.startsWith(`schema-${packed.schema}-`))
        .length,
    ).toBe(1);
    const again = await startServer(dir, { flags: ['--base-url', baseUrl], bunFlags: later });
    await expectAllOfIt(clientOf(again.url, packed.key), packed);
    again.child.kill('SIGKILL');
  });

  test('each step is logged before it begins', () => {
    const dir = unpacked(packed);
    const messages: string[] = [];
    migrate(
      {
        ...{ path: join(dir, 'tatami.db'), snapshots: join(dir, 'snapshots'), nowMs: Date.now },
        onStep: (message) => messages.push(message),
      },
      laterMigrations,
    );
    const missing = laterMigrations.slice(packed.schema).map(({ name }) => name);
    expect(messages.length).toBe(missing.length + 1);
    for (const [index, name] of missing.entries()) expect(messages[index + 1]).toContain(name);
  });

  test('an older build rejects a database of a newer one, and names the snapshot', () => {
    const dir = unpacked(packed);
    const at = { path: join(dir, 'tatami.db'), snapshots: join(dir, 'snapshots'), nowMs: Date.now };
    const { snapshot } = migrate(at, laterMigrations);
    expect(() => migrate(at, migrations.slice(0, packed.schema))).toThrow(`tatami restore ${snapshot}`);
    expect(() =>
      migrate({ ...at, snapshots: join(dir, 'none') }, migrations.slice(0, packed.schema)),
    ).toThrow('restore a backup');
  });

  test('restoring the named snapshot brings back all data from before the upgrade', async () => {
    const dir = unpacked(packed);
    const at = { path: join(dir, 'tatami.db'), snapshots: join(dir, 'snapshots'), nowMs: Date.now };
    const { snapshot } = migrate(at, laterMigrations);
    const back = join(parent, `back-${unpackings}`);
    const command = ['restore', snapshot!, '--data-dir', back, '--key', join(dir, 'master.key')];
    const restored = await ended(spawnTatami(command, {}, later));
    expect(restored, restored.err).toMatchObject({ code: 0 });
    // The directory is in the state of the older program, which can continue.
    const schema = contents(join(back, 'tatami.db')).schema;
    expect(schema).toBe(packed.schema);
    const { url, child } = await startServer(back, { flags: ['--base-url', baseUrl] });
    await expectAllOfIt(clientOf(url, packed.key), packed);
    child.kill('SIGKILL');
  });

  test('the later build imports an export of this one', async () => {
    const dir = unpacked(packed);
    const [exported, target] = [join(parent, `export-${unpackings}`), join(parent, `import-${unpackings}`)];
    const commands: [command: string[], flags?: string[]][] = [
      [['export', exported, '--data-dir', dir]],
      [['init', '--data-dir', target, '--workspace', 'Other', '--team', 'OPS', '--json'], later],
      [['import', exported, '--data-dir', target, '--json'], later],
    ];
    for (const [command, flags] of commands) {
      const done = await ended(spawnTatami(command, {}, flags));
      expect(done, done.err).toMatchObject({ code: 0 });
    }
    expect(contents(join(target, 'tatami.db'))).toEqual({ schema: laterMigrations.length, issues: 13 });
  });

  test.skipIf(!hasStrace || (file !== oldest && !isLong))(
    'an upgrade that is killed at any step is continued by the next start (needs strace)',
    async () => {
      const kills: Record<string, number> = {};
      for (const [call, step] of killedCalls)
        for (let when = 1; ; when += step) {
          const dir = unpacked(packed);
          if (!(await killedAt(dir, call, when))) break;
          kills[call] = (kills[call] ?? 0) + 1;
          expect(await openIn(dir), `${call} ${when}`).toBe(0);
          expect(contents(join(dir, 'tatami.db')), `${call} ${when}`).toEqual({
            schema: laterMigrations.length,
            issues: 13,
          });
        }
      for (const [call] of killedCalls) expect([call, (kills[call] ?? 0) > 0]).toEqual([call, true]);
    },
    180_000,
  );
});

/** File calls at which the upgrade is killed, at an interval. */
const killedCalls: readonly (readonly [call: string, step: number])[] = [
  ['fsync', isLong ? 1 : 8],
  ['fdatasync', 1],
  ['rename', 1],
  ['pwrite64', isLong ? 40 : 400],
];

const openIn = (dir: string, ...under: string[]): Promise<number> =>
  Bun.spawn([...under, process.execPath, ...later, opener, dir], { stdout: 'ignore', stderr: 'ignore' })
    .exited;

async function killedAt(dir: string, call: string, when: number): Promise<boolean> {
  const files = ['tatami.db', 'tatami.db-wal', 'log-head', 'snapshots', ''].map((name) => join(dir, name));
  const command = underFault(`${call}:signal=SIGKILL:when=${when}`, call === 'rename' ? [] : files, [
    process.execPath,
    ...later,
    opener,
    dir,
  ]);
  return (await Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' }).exited) !== 0;
}

function contents(path: string): { schema: number; issues: number } {
  const db = new Database(path);
  const [row] = db
    .prepare(
      'SELECT (SELECT user_version FROM pragma_user_version) AS schema, (SELECT count(*) FROM issues) AS issues',
    )
    .all();
  db.close();
  return row as { schema: number; issues: number };
}
