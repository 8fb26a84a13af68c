// Baseline server for single requests: bare `Bun.serve`, prepared statements and `JSON.stringify`, with a schema and statements that never
// change. It has no authentication, limits, headers, validation or response mapping.
import { readFileSync } from 'node:fs';
import Database from 'libsql';
import { answerParent } from '../children.ts';
import { issueInput } from '../servers/seed.ts';
import * as sql from './statements.ts';

export interface YardstickStart {
  /** Path of the database to create. */
  readonly path: string;
  /** Number of issues to seed. */
  readonly issues: number;
}

export interface YardstickReady {
  readonly url: string;
  /** Up to 1,000 of the seeded issues, evenly picked. */
  readonly issueIds: readonly string[];
}

const json = { headers: { 'content-type': 'application/json' } };
const workspaceId = '01a22211-9235-76f0-8f20-b550dd6ba9ba';
const team = '01a22211-9235-7903-9df4-b304873d00c5';
const state = 'wfs_01m8h134hp0027bny64pt0yt8f';
const actor = JSON.stringify({
  kind: 'api_key',
  id: 'key_01m8h134hp0001bmh0yzwv35h9',
  name: 'First key',
  memberId: 'usr_01m8h134hn0008yv7152g7s5dy',
});
/** As large as the packed content of a short event, and as hard to compress. */
const packed = Buffer.from(Array.from({ length: 440 }, (_, at) => (at * 167 + (at % 7) * 31) % 256));

type Connection = InstanceType<typeof Database>;

function start({ path, issues }: YardstickStart): YardstickReady {
  const writing = create(path);
  const { job, group } = createJobs(writing);
  const issueIds: string[] = [];
  const step = Math.max(1, Math.ceil(issues / 1_000));
  group(() => {
    for (let n = 0; n < issues; n++) {
      const { title, description, priority } = issueInput(n) as Record<string, string>;
      const { id } = job({
        title: title!,
        description: description!,
        priority: priorities.indexOf(priority!),
      });
      if (n % step === 0) issueIds.push(id);
    }
  });
  const reading = new Database(path);
  for (const pragma of ['query_only = ON', 'cache_size = -65536', 'temp_store = MEMORY'])
    reading.prepare(`PRAGMA ${pragma}`).all();
  const [get, list] = [reading.prepare(sql.getIssue), reading.prepare(sql.listIssues)];
  const createOne = groupCommit(job, group);
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'POST') {
        const { title } = (await request.json()) as { title: string };
        return new Response(JSON.stringify(await createOne(title)), { status: 201, ...json });
      }
      const { url } = request;
      if (url.indexOf('?') > 0)
        return new Response(JSON.stringify({ data: list.all([workspaceId, 51n]) }), json);
      return new Response(
        JSON.stringify(get.all([workspaceId, url.slice(url.lastIndexOf('/') + 1)])[0]),
        json,
      );
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, issueIds };
}

const priorities = ['urgent', 'high', 'medium', 'low', 'none'];

/** Creates the database with the pragmas that Tatami uses. */
function create(path: string): Connection {
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
  db.exec(readFileSync(new URL('schema.sql', import.meta.url), 'utf8'));
  for (const [table, id] of [
    ['workspaces', workspaceId],
    ['states', state],
  ] as const)
    db.prepare(`INSERT INTO ${table} (workspace_id, id) VALUES (?1, ?2)`).run([workspaceId, id]);
  db.prepare(
    `INSERT INTO teams (workspace_id, id, key, name, version, created_at, updated_at) VALUES (?1, ?2, 'ENG', 'Engineering', 1, 0, 0)`,
  ).run([workspaceId, team]);
  return db;
}

let ids = 0;

/** Returns ids of 30 characters in ascending order, as Tatami's are, so that they are appended to their indexes. */
const nextId = (prefix: string): string =>
  `${prefix}_${Date.now().toString(36).padStart(10, '0')}${(ids++).toString(36).padStart(16, '0')}`;

interface Job {
  readonly title: string;
  readonly description?: string;
  readonly priority?: number;
}

/** Returns functions that write one issue with its event, and that run writes in one transaction with one sync. */
function createJobs(db: Connection) {
  const [takeNumber, insert, note, append] = [
    sql.takeNumber,
    sql.insertIssue,
    sql.noteSearch,
    sql.appendEvent,
  ].map((text) => db.prepare(text)) as [Prepared, Prepared, Prepared, Prepared];
  const [begin, commit, savepoint, release] = [
    'BEGIN IMMEDIATE',
    'COMMIT',
    'SAVEPOINT job',
    'RELEASE job',
  ].map((text) => db.prepare(text)) as [Prepared, Prepared, Prepared, Prepared];
  return {
    job(given: Job): { id: string; identifier: string; title: string } {
      const now = Date.now();
      const id = nextId('iss');
      savepoint.run([]);
      takeNumber.run([workspaceId, team]);
      const row: Record<string, string | number | null> = {
        ...sql.issueDefaults,
        ...given,
        workspace_id: workspaceId,
        ...{ id, team_id: team, state_id: state, creator_id: 'usr_01m8h134hn0008yv7152g7s5dy' },
        ...{ creator_name: 'Owner', created_at: now, updated_at: now },
      };
      insert.run(sql.inserted.map((column) => valueOf(row[column] ?? null)));
      note.run([workspaceId, id]);
      const [eventId, requestId] = [nextId('evt'), nextId('req')];
      const content = [JSON.stringify(row), packed];
      const event = [workspaceId, eventId, BigInt(now), id, actor, requestId, ...content];
      const [appended] = append.all(event) as { number: number }[];
      release.run([]);
      return { id, identifier: `ENG-${String(appended!.number)}`, title: given.title };
    },
    group<T>(work: () => T): T {
      begin.run([]);
      const result = work();
      commit.run([]);
      return result;
    },
  };
}

const valueOf = (value: string | number | null) => (typeof value === 'number' ? BigInt(value) : value);

type Prepared = ReturnType<Connection['prepare']>;
type Jobs = ReturnType<typeof createJobs>;

/** Commits all jobs of one event loop iteration in one transaction with one sync, with a savepoint per job. */
function groupCommit(job: Jobs['job'], group: Jobs['group']) {
  let queue: { title: string; resolve(body: object): void }[] = [];
  const flush = (): void => {
    const jobs = queue;
    queue = [];
    const bodies = group(() => jobs.map(({ title }) => job({ title })));
    jobs.forEach(({ resolve }, index) => resolve(bodies[index]!));
  };
  return (title: string): Promise<object> =>
    new Promise((resolve) => {
      if (queue.push({ title, resolve }) === 1) setImmediate(flush);
    });
}

/** CPU time of this process, microseconds. */
function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

answerParent({ start, cpuUs });
