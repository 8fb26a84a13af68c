// Random commands on issues in random order return the responses and emit the events that a model predicts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { startApp, type Json, type TestApp } from '../app.ts';

const seed = Number(process.env.FUZZ_SEED ?? 20261120);
const runs = process.env.TATAMI_LONG ? 400 : 25;
let app: TestApp;
let states: Json[];
beforeAll(async () => {
  app = await startApp();
  states = (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
});
afterAll(() => app.stop());

interface Modelled {
  id: string;
  version: number;
  deleted: boolean;
  title: string;
  priority: string;
  state: string;
  assignee: string | null;
  labels: string[];
}

type Command =
  | { do: 'create' }
  | {
      do: 'update';
      at: number;
      patch: Partial<Pick<Modelled, 'title' | 'priority' | 'labels'>> & { state?: number; mine?: boolean };
    }
  | { do: 'delete' | 'restore' | 'get'; at: number }
  | { do: 'stale'; at: number; behind: number }
  | { do: 'list' };

const at = fc.nat(3);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('update' as const),
      at,
      patch: fc.record(
        {
          title: fc.constantFrom('a', 'b'),
          priority: fc.constantFrom('none', 'high'),
          labels: fc.subarray(['bug', 'feature', 'question']),
          state: fc.nat(6),
          mine: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('delete' as const, 'restore' as const, 'get' as const), at }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('stale' as const), at, behind: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('list' as const) }) },
);

const path = (issue: Modelled): string => `/api/v1/issues/${issue.id}`;

/** Applies one command to the model and the server, compares the responses, and returns the expected events. */
async function step(issues: Modelled[], command: Command): Promise<string[]> {
  if (command.do === 'create') {
    const { status, json } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'a' });
    expect(status).toBe(201);
    const backlog = states.find(({ type }) => type === 'backlog').id;
    issues.push({
      id: json.id,
      version: 1,
      deleted: false,
      title: 'a',
      priority: 'none',
      state: backlog,
      assignee: null,
      labels: [],
    });
    return ['issue.created'];
  }
  if (command.do === 'list') {
    const { json } = await app.call('GET', '/api/v1/issues?limit=100&fields=version');
    const listedVersions = new Map<string, number>(json.data.map(({ id, version }: Json) => [id, version]));
    for (const { id, version, deleted } of issues)
      expect(listedVersions.get(id)).toBe(deleted ? undefined : version);
    return [];
  }
  const issue = issues[command.at];
  if (!issue) return [];
  const missing = issue.deleted && command.do !== 'restore';
  const changed = (events: string[]): string[] => (events.length > 0 && issue.version++, events);
  switch (command.do) {
    case 'get': {
      const { status, json } = await app.call('GET', path(issue));
      expect(status).toBe(missing ? 404 : 200);
      if (!missing) expect(seen(json)).toEqual(issue);
      return [];
    }
    case 'stale': {
      const tag = `"${issue.version + command.behind}-x"`;
      const { status } = await app.call('PATCH', path(issue), { title: 'stale' }, { 'if-match': tag });
      expect(status).toBe(missing ? 404 : 412);
      return [];
    }
    case 'delete': {
      expect((await app.call('DELETE', path(issue))).status).toBe(missing ? 404 : 204);
      if (missing) return [];
      issue.deleted = true;
      return changed(['issue.deleted']);
    }
    case 'restore': {
      expect((await app.call('POST', `${path(issue)}/restore`)).status).toBe(200);
      if (!issue.deleted) return [];
      issue.deleted = false;
      return changed(['issue.restored']);
    }
    case 'update': {
      const { state, mine, ...plain } = command.patch;
      const wanted = {
        ...plain,
        ...(state === undefined ? {} : { state: states[state].id as string }),
        ...(mine === undefined ? {} : { assignee: mine ? app.workspace.userId : null }),
      };
      const reply = await app.call('PATCH', path(issue), {
        ...plain,
        ...(wanted.state === undefined ? {} : { stateId: wanted.state }),
        ...(wanted.assignee === undefined ? {} : { assigneeId: wanted.assignee }),
      });
      expect(reply.status).toBe(missing ? 404 : 200);
      if (missing) return [];
      const moved = (name: keyof typeof wanted): boolean =>
        wanted[name] !== undefined && JSON.stringify(wanted[name]) !== JSON.stringify(issue[name]);
      const typeOf = (id: string): string => states.find((state: Json) => state.id === id).type;
      const to = typeOf(wanted.state ?? issue.state);
      const leavesTriage = typeOf(issue.state) === 'triage' && to !== 'triage';
      const isDeclined = to === 'canceled' || to === 'duplicate';
      const events = (Object.keys(wanted) as (keyof typeof wanted)[]).some(moved)
        ? [
            'issue.updated',
            ...(moved('state') ? ['issue.state_changed'] : []),
            ...(leavesTriage ? [isDeclined ? 'issue.triage_declined' : 'issue.triage_accepted'] : []),
            ...(moved('assignee') ? ['issue.assigned'] : []),
            ...(moved('labels') ? ['issue.labeled'] : []),
          ]
        : [];
      Object.assign(issue, wanted);
      changed(events);
      expect(seen(reply.json)).toEqual(issue);
      return events;
    }
  }
}

function seen(json: Json): Modelled {
  const { id, version, title, priority, state, assignee, labels } = json;
  return {
    id,
    version,
    deleted: false,
    title,
    priority,
    state: state.id,
    assignee: assignee?.id ?? null,
    labels: labels.map(({ name }: Json) => name),
  };
}

test('any sequence of commands is answered as the model predicts, and the log contains exactly its events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40, size: 'max' }), async (commands) => {
      const issues: Modelled[] = [];
      const from = await app.lastSequence();
      const events: string[] = [];
      for (const one of commands) events.push(...(await step(issues, one)));
      expect(await app.eventTypes(from)).toEqual(events);
      for (const issue of issues) {
        const log: Json[] = (await app.call('GET', `${path(issue)}/history?limit=100`)).json.data;
        const versions = [...new Set(log.map(({ data }) => data.version))];
        expect(versions).toEqual(Array.from({ length: issue.version }, (_, index) => index + 1));
        await app.call('DELETE', path(issue));
      }
    }),
    { seed, numRuns: runs },
  );
}, 600_000);
