// Changes of any number of issues: first what would change, then the change, which can be undone. One request changes
// up to 500 issues, all or none.
import { ApiCallError, type Client, type IssueBulkChanged, type IssueUpdate } from '@tatami/sdk/client';
import { messageOf } from '../../parts/states.tsx';
import type { ListedIssue } from './list-data.ts';

/** Limit of one request. */
const bulkMax = 500;

export type BulkChange = { readonly kind: 'set'; readonly set: IssueUpdate } | { readonly kind: 'delete' };

type Named = Pick<ListedIssue, 'id' | 'identifier'>;
type Changed = IssueBulkChanged['data'];

export interface Failure {
  readonly issue: Named;
  readonly reason: string;
}

export interface Outcome {
  readonly changes: Changed;
  readonly failures: readonly Failure[];
  /** Number of issues that were not tried, because the person canceled. */
  readonly left: number;
  /** Error that concerns no single issue; null without one. */
  readonly error: unknown;
}

export interface Control {
  readonly signal: AbortSignal;
  onProgress(done: number, all: number): void;
}

function parts<T>(items: readonly T[]): (readonly T[])[] {
  const count = Math.ceil(items.length / bulkMax);
  return Array.from({ length: count }, (_, at) => items.slice(at * bulkMax, (at + 1) * bulkMax));
}

/** After these errors, the next request would fail too. */
const stopsAll = ({ status }: ApiCallError): boolean =>
  status < 400 || status >= 500 || [401, 403, 429].includes(status);

/** Reasons for the issues that an error names, which prevent the change of the whole part. */
function refusedIn(part: readonly Named[], { details }: ApiCallError): readonly Failure[] {
  return details.flatMap(({ path, fix = '' }) => {
    const [, at] = /^ids\.(\d+)$/.exec(path) ?? [];
    const issue = at === undefined ? undefined : part[Number(at)];
    return issue ? [{ issue, reason: fix.replace(`${issue.identifier}: `, '') }] : [];
  });
}

/**
 * Changes the issues in several requests. Issues that prevent a part are left out of it.
 * @param call changes the issues with these ids, all or none
 */
export async function inParts(
  issues: readonly Named[],
  call: (ids: string[]) => Promise<Changed>,
  { signal, onProgress }: Control,
): Promise<Outcome> {
  const queue = parts(issues);
  const changes: Changed[number][] = [];
  const failures: Failure[] = [];
  let error: unknown = null;
  const fail = (failed: readonly Named[], cause: ApiCallError): void => {
    error ??= cause;
    failures.push(...failed.map((issue) => ({ issue, reason: messageOf(cause) })));
  };
  while (queue.length > 0 && !signal.aborted) {
    const part = queue.shift()!;
    try {
      changes.push(...(await call(part.map(({ id }) => id))));
    } catch (cause) {
      if (!(cause instanceof ApiCallError)) throw cause;
      const refused = refusedIn(part, cause);
      const half = Math.ceil(part.length / 2);
      if (refused.length > 0) {
        failures.push(...refused);
        const others = part.filter((one) => !refused.some(({ issue }) => issue === one));
        if (others.length > 0) queue.unshift(others);
      } else if (cause.code === 'budget_exceeded' && half < part.length)
        queue.unshift(part.slice(0, half), part.slice(half));
      else if (stopsAll(cause)) fail([part, ...queue.splice(0)].flat(), cause);
      else fail(part, cause);
    }
    onProgress(issues.length - queue.flat().length, issues.length);
  }
  return { changes, failures, left: queue.flat().length, error };
}

const isChanged = ({ changes }: Changed[number]): boolean => Object.keys(changes).length > 0;

/** Makes a change, or simulates it. */
export async function changeBulk(
  client: Client,
  issues: readonly ListedIssue[],
  change: BulkChange,
  control: Control & { readonly isSimulation?: boolean },
): Promise<Outcome> {
  const options = control.isSimulation ? ({ mode: 'simulate' } as const) : {};
  const call = async (ids: string[]): Promise<Changed> => {
    const { data } = await (change.kind === 'set'
      ? client.issues.bulkUpdate({ ids, set: change.set }, options)
      : client.issues.bulkDelete({ ids }, options));
    return change.kind === 'set' ? data.filter(isChanged) : data;
  };
  return inParts(issues, call, control);
}

/** Undoes all parts of a change. */
export async function undoBulk(
  client: Client,
  issues: readonly ListedIssue[],
  change: BulkChange,
  done: Changed,
  control: Control,
): Promise<Outcome> {
  if (change.kind === 'delete') return restore(client, done, control);
  const before = new Map(issues.map((issue) => [issue.id, issue]));
  const groups = Map.groupBy(done, ({ id }) => JSON.stringify(formerValues(before.get(id)!, change.set)));
  const outcomes: Outcome[] = [];
  for (const [set, group] of groups) {
    const call = async (ids: string[]): Promise<Changed> =>
      (await client.issues.bulkUpdate({ ids, set: JSON.parse(set) as IssueUpdate })).data;
    const earlier = outcomes.reduce(
      (sum, { changes, failures }) => sum + changes.length + failures.length,
      0,
    );
    const onProgress = (count: number): void => control.onProgress(earlier + count, done.length);
    outcomes.push(await inParts(group, call, { ...control, onProgress }));
  }
  return {
    changes: outcomes.flatMap(({ changes }) => changes),
    failures: outcomes.flatMap(({ failures }) => failures),
    left: outcomes.reduce((sum, { left }) => sum + left, 0),
    error: outcomes.find(({ error }) => error !== null)?.error ?? null,
  };
}

/** The API restores one issue per request. */
async function restore(client: Client, deleted: Changed, { signal, onProgress }: Control): Promise<Outcome> {
  const changes: Changed[number][] = [];
  const failures: Failure[] = [];
  let error: unknown = null;
  for (const [at, issue] of deleted.entries()) {
    if (signal.aborted) break;
    try {
      await client.issues.restore(issue.id);
      changes.push(issue);
    } catch (cause) {
      error ??= cause;
      failures.push({ issue, reason: messageOf(cause) });
    }
    onProgress(at + 1, deleted.length);
  }
  return { changes, failures, left: deleted.length - changes.length - failures.length, error };
}

type Former = (issue: ListedIssue, set: IssueUpdate) => IssueUpdate;

const has = ({ labels }: ListedIssue, id: string): boolean => labels.some((label) => label.id === id);

/** Former value of an issue for a field of a change. Labels that others change meanwhile stay as they are. */
const former: Readonly<Record<string, Former>> = {
  state: ({ state }) => ({ stateId: state.id }),
  assigneeId: ({ assignee }) => ({ assigneeId: assignee?.id ?? null }),
  priority: ({ priority }) => ({ priority }),
  projectId: ({ project }) => ({ projectId: project?.id ?? null }),
  cycleId: ({ cycle }) => ({ cycleId: cycle?.id ?? null }),
  addLabels: (issue, { addLabels = [] }) => ({ removeLabels: addLabels.filter((id) => !has(issue, id)) }),
  removeLabels: (issue, { removeLabels = [] }) => ({
    addLabels: removeLabels.filter((id) => has(issue, id)),
  }),
};

/** Returns the update that gives an issue its former values in the fields of a change. */
export function formerValues(issue: ListedIssue, set: IssueUpdate): IssueUpdate {
  return Object.assign({}, ...Object.keys(set).map((name) => former[name]?.(issue, set))) as IssueUpdate;
}
