// Messages between one run and its host in realistic sizes: an event, two calls, two answers.

export interface Exchange {
  /** JSON text of the handler's input. */
  readonly input: string;
  /** Answers to `issues.get` and `issues.update`, JSON text. */
  readonly answers: readonly [string, string];
}

export function exchangeOf(): Exchange {
  const issue = {
    id: 'iss_01JD6ZK4Q8TT3M5V9X2B7C1N0P',
    identifier: 'ENG-4711',
    number: 4711,
    title: 'The export button does nothing on a slow connection',
    description: 'Press it, wait a second, press it again. '.repeat(6),
    team: 'team_01JD6ZK4Q8TT3M5V9X2B7C1N0P',
    state: 'state_01JD6ZK4Q8TT3M5V9X2B7C1N0P',
    priority: 'none',
    assignee: null,
    project: null,
    parent: null,
    labels: [],
    estimate: null,
    dueDate: null,
    creator: { kind: 'user', id: 'mem_01JD6ZK4Q8TT3M5V9X2B7C1N0P', name: 'Owner' },
    version: 1,
    createdAt: '2026-11-20T10:00:00.000Z',
    updatedAt: '2026-11-20T10:00:00.000Z',
    archivedAt: null,
  };
  const event = {
    id: 'evt_01JD6ZK4Q8TT3M5V9X2B7C1N0P',
    type: 'issue.created',
    sequence: 123_456,
    createdAt: issue.createdAt,
    actor: issue.creator,
    subject: issue.id,
    data: issue,
  };
  const run = {
    id: 'run_01JD6ZK4Q8TT3M5V9X2B7C1N0P',
    attempt: 1,
    mode: 'apply',
    depth: 1,
    rootEventId: event.id,
    deadline: 1_790_000_010_000,
  };
  const input = {
    event,
    run,
    settings: {},
    nowMs: 1_790_000_000_000,
    seed: run.id,
    scopes: ['issues:write'],
  };
  return {
    input: JSON.stringify(input),
    answers: [JSON.stringify(issue), JSON.stringify({ ...issue, priority: 'low', version: 2 })],
  };
}
