// A Tatami server in a separate process, controlled over IPC. Rate limits are on, but too high to reject a
// request.
import type { PluginPackage } from '../../sdk/plugin/manifest.ts';
import { readConfig } from '../../core/app/config/config.ts';
import { createWorkspace, hasWorkspace } from '../../core/app/setup/first-workspace.ts';
import { serve, type Tatami } from '../../core/app/serve/serve.ts';
import { systemStatement } from '../../core/platform/store/statement.ts';
import { answerParent } from '../children.ts';
import { recordReads, type RecordedStatement } from './recorded.ts';
import { issueInput } from './seed.ts';

export interface TatamiStart {
  readonly dataDir: string;
  readonly port?: number;
  /** Number of issues to seed. */
  readonly issues: number;
  /** API key of an existing workspace. */
  readonly apiKey?: string;
  /** Recording of runs; default `on`. */
  readonly recordRuns?: 'on' | 'off';
}

export interface TatamiReady {
  readonly url: string;
  readonly apiKey: string;
  readonly database: string;
  /** Up to 1,000 of the seeded issues, evenly picked. */
  readonly issueIds: readonly string[];
}

const openWork = systemStatement<{ runs: number; deliveries: number }>(
  'bench.open_work',
  'a bench counts what is left to do in the whole installation',
  "SELECT sum(kind = 'run') AS runs, sum(kind = 'delivery') AS deliveries FROM due_work",
);

const runsDone = systemStatement<{ count: number }>(
  'bench.runs_done',
  'a bench counts what is done in the whole installation',
  "SELECT count(*) AS count FROM runs WHERE status = 'succeeded'",
);

const plannedDeliveries = systemStatement<{ count: number }>(
  'bench.deliveries',
  'a bench counts deliveries in the whole installation',
  "SELECT count(*) AS count FROM due_work WHERE kind = 'delivery'",
);

const breachedClocks = systemStatement<{ count: number }>(
  'bench.breached_clocks',
  'a bench counts clocks in the whole installation',
  "SELECT count(*) AS count FROM sla_clocks WHERE state = 'breached'",
);

let tatami: Tatami;
let apiKey = '';

async function start(options: TatamiStart): Promise<TatamiReady> {
  const high = '100000000';
  const config = readConfig(
    {
      dataDir: options.dataDir,
      port: String(options.port ?? 0),
      rateRead: high,
      rateWrite: high,
      rateSearch: high,
      rateWorkspace: high,
      egressAllow: '127.0.0.0/8',
      recordRuns: options.recordRuns ?? 'on',
    },
    {},
  );
  const log = process.env.BENCH_LOG
    ? (level: string, message: string, fields: object = {}) => console.error(level, message, fields)
    : () => undefined;
  tatami = await serve({ config, log });
  apiKey = options.apiKey ?? '';
  if (!(await hasWorkspace(tatami.services.store)))
    ({ apiKey } = await createWorkspace(tatami.services, tatami.committer, {
      name: 'Bench',
      teamKey: 'ENG',
      teamName: 'Engineering',
      ownerName: 'Owner',
    }));
  const issueIds: string[] = [];
  const bulk = 100;
  for (let n = 0; n < options.issues; n += bulk) {
    const count = Math.min(bulk, options.issues - n);
    const { data } = await call<{ data: { id: string }[] }>('POST', '/issues/bulk', {
      issues: Array.from({ length: count }, (_, i) => issueInput(n + i)),
    });
    issueIds.push(...data.map(({ id }) => id));
  }
  if (options.issues > 0) await tatami.settled();
  const step = Math.max(1, Math.ceil(issueIds.length / 1_000));
  return {
    url: tatami.url,
    apiKey,
    database: `${options.dataDir}/tatami.db`,
    issueIds: issueIds.filter((_, index) => index % step === 0),
  };
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await tatami.app.fetch(
    new Request(`${tatami.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  if (!response.ok)
    throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

function recordRead(path: string): Promise<RecordedStatement[]> {
  return recordReads(tatami.services.store, () => call('GET', path));
}

answerParent({
  start,
  recordRead,
  call: ({ method, path, body }: { method: string; path: string; body?: unknown }) =>
    call(method, path, body),
  install: async (document: PluginPackage) => {
    const grant = Object.keys(document.manifest.scopes ?? {});
    return (await call<{ id: string }>('POST', '/plugins', { package: document, grant, probation: false }))
      .id;
  },
  settled: () => tatami.settled(),
  stop: () => tatami.stop(),
  deliveries: async () => (await tatami.services.store.readSystem(plannedDeliveries))[0]!.count,
  breachedClocks: async () => (await tatami.services.store.readSystem(breachedClocks))[0]!.count,
  runsDone: async () => (await tatami.services.store.readSystem(runsDone))[0]!.count,
  openWork: async () => (await tatami.services.store.readSystem(openWork))[0],
});
