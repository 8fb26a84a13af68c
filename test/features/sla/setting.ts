// A workspace with SLA policies whose clock events are read from the log.
import { afterAll, afterEach } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';

export interface SlaApp {
  app: TestApp;
  /** Creates an object and returns it. */
  make(path: string, body: object): Promise<Json>;
  /** Creates an issue, and waits until its clocks have started. */
  file(body?: object): Promise<Json>;
  change(issue: Json, body: object): Promise<Json>;
  /** Moves an issue to the first state of a type. */
  move(issue: Json, type: string): Promise<void>;
  /** Advances the clock and waits for the effects. */
  pass(ms: number): Promise<void>;
  /** Advances the clock to a time. */
  until(time: string): Promise<void>;
  /** Returns the types of its clock events, in log order. */
  eventTypes(issue: Json, kind?: string): Promise<string[]>;
  /** Returns its clocks, oldest first. */
  clocks(issue: Json): Promise<Json[]>;
  dueAt(issue: Json): Promise<string | null>;
}

const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

export async function startSla(): Promise<SlaApp> {
  const app = await startApp();
  const states: Json[] = (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
  const ok = async (method: string, path: string, body?: object): Promise<Json> => {
    const { status, json } = await sla.app.call(method, `/api/v1${path}`, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
    return json;
  };
  const sla: SlaApp = {
    app,
    make: (path, body) => ok('POST', path, body),
    async file(body = {}) {
      const { id } = await ok('POST', '/issues', { team: 'ENG', title: 'Late?', ...body });
      await sla.app.settled();
      return ok('GET', `/issues/${id}`);
    },
    async change({ id }, body) {
      const changed = await ok('PATCH', `/issues/${id}`, body);
      await sla.app.settled();
      return changed;
    },
    async move(issue, type) {
      await sla.change(issue, { stateId: states.find((state) => state.type === type).id });
    },
    async pass(ms) {
      sla.app.clock.advance(ms);
      await sla.app.settled();
    },
    async until(time) {
      // The clock is set up to the last minute, because periodic work would otherwise run for months.
      const ms = Date.parse(time) - sla.app.clock.now();
      sla.app.clock.jump(Math.max(0, ms - minuteMs));
      await sla.app.settled();
      await sla.pass(Math.min(ms, minuteMs));
    },
    async eventTypes({ id }, kind) {
      const { data } = await ok('GET', `/issues/${id}/history?limit=100`);
      return data
        .filter(
          (event: Json) => event.type.startsWith('sla.') && (kind === undefined || event.data.kind === kind),
        )
        .map((event: Json) => event.type.slice(4));
    },
    async clocks({ id }) {
      return (await ok('GET', `/issues/${id}/sla`)).data;
    },
    async dueAt({ id }) {
      return (await ok('GET', `/issues/${id}`)).slaDueAt;
    },
  };
  return sla;
}

/** Starts one workspace for a test file. A policy lasts until the end of its test. */
export async function slaOfFile(): Promise<{ sla: SlaApp; policy(body: object): Promise<Json> }> {
  const sla = await startSla();
  let policies: Json[] = [];
  afterAll(() => sla.app.stop());
  afterEach(async () => {
    for (const { id } of policies) await sla.app.call('DELETE', `/api/v1/sla-policies/${id}`);
    policies = [];
    await sla.app.settled();
  });
  return {
    sla,
    async policy(body) {
      const created = await sla.make('/sla-policies', { name: 'Soon', targetMinutes: 240, ...body });
      policies.push(created);
      return created;
    },
  };
}
