// Baseline server for single requests: bare `Bun.serve`, the statements recorded from Tatami, and `JSON.stringify`. It has no
// authentication, limits, headers, validation or response mapping.
import Database from 'libsql';
import { idPrefixes, createIds } from '../../core/platform/lib/ids.ts';
import { answerParent } from '../children.ts';
import { prepare } from './prepared.ts';
import type { RecordedStatement } from './recorded.ts';
import type { Recorded } from './tatami-server.ts';

export interface YardstickStart {
  readonly database: string;
  /** Path of the copy that takes writes; null if the benchmark does not write. */
  readonly copy: string | null;
  readonly recorded: Recorded;
}

const json = { headers: { 'content-type': 'application/json' } };

function start({ database, copy, recorded }: YardstickStart): { url: string } {
  const reading = new Database(database);
  if (copy !== null) reading.prepare('VACUUM INTO ?1').run([copy]);
  for (const pragma of ['query_only = ON', 'cache_size = -65536', 'temp_store = MEMORY'])
    reading.prepare(`PRAGMA ${pragma}`).all();
  const get = prepare(reading, recorded.get);
  const list = prepare(reading, recorded.list);
  const create = copy === null ? null : groupCommit(openForWrites(copy), recorded.create);
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'POST' && create) {
        const body = await create((await request.json()) as { title: string });
        return new Response(JSON.stringify(body), { status: 201, ...json });
      }
      const { url } = request;
      const query = url.indexOf('?');
      if (query > 0) return new Response(JSON.stringify({ data: list(recorded.list.values) }), json);
      const id = url.slice(url.lastIndexOf('/') + 1);
      return new Response(JSON.stringify(get({ ...recorded.get.values, id })[0]), json);
    },
  });
  return { url: `http://127.0.0.1:${server.port}` };
}

/** Uses the same pragmas as Tatami. */
function openForWrites(path: string): InstanceType<typeof Database> {
  const db = new Database(path);
  for (const pragma of [
    'journal_mode = WAL',
    'synchronous = FULL',
    'foreign_keys = ON',
    'cache_size = -65536',
    'temp_store = MEMORY',
    'wal_autocheckpoint = 4000',
  ])
    db.prepare(`PRAGMA ${pragma}`).all();
  return db;
}

/**
 * Commits all jobs of one event loop iteration in one transaction with one sync, with a savepoint per job.
 */
function groupCommit(db: InstanceType<typeof Database>, recorded: readonly RecordedStatement[]) {
  const statements = recorded.map((statement) => ({ run: prepare(db, statement), values: statement.values }));
  const names = recorded.map(({ name }) => name).join();
  if (names !== 'teams.take_number,issues.insert,search_pending.note,events.append_with_issue_number')
    throw new Error(`A creation now writes ${names}. Update the baseline to write the same rows.`);
  const [begin, commit, savepoint, release] = [
    'BEGIN IMMEDIATE',
    'COMMIT',
    'SAVEPOINT job',
    'RELEASE job',
  ].map((sql) => db.prepare(sql));
  const ids = createIds(Date.now);
  let queue: { title: string; resolve(body: object): void }[] = [];

  const runJob = (title: string): object => {
    const now = Date.now();
    const id = ids.next('iss');
    const [counter, issue, note, event] = statements as [
      (typeof statements)[0],
      (typeof statements)[0],
      (typeof statements)[0],
      (typeof statements)[0],
    ];
    savepoint!.run();
    counter.run(counter.values);
    const row = { ...issue.values, id, title, created_at: now, updated_at: now };
    issue.run(row);
    note.run({ ...note.values, id });
    const [appended] = event.run({
      ...event.values,
      id: ids.next(idPrefixes.event),
      createdAt: now,
      entityId: id,
      subjectId: id,
      commitAssignedOf: id,
      requestId: ids.next(idPrefixes.request),
      data: JSON.stringify(row),
    });
    release!.run();
    return { id, identifier: `ENG-${String(appended!.learned)}`, title };
  };

  const flush = (): void => {
    const group = queue;
    queue = [];
    begin!.run();
    const bodies = group.map(({ title }) => runJob(title));
    commit!.run();
    group.forEach(({ resolve }, index) => resolve(bodies[index]!));
  };

  return ({ title }: { title: string }): Promise<object> =>
    new Promise((resolve) => {
      if (queue.push({ title, resolve }) === 1) setImmediate(flush);
    });
}

answerParent({ start });
