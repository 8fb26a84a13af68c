// Applies events to what the app has loaded. Query keys begin with the namespace of the API (`issues`, `projects`, …).
import type { QueryClient, QueryKey } from '@tanstack/react-query';
import type { TatamiEvent } from '@tatami/sdk/client';

/** Namespaces of the API whose objects the events of a namespace change. The first one holds the object itself. */
const namespaces: Readonly<Record<string, readonly string[]>> = {
  issue: ['issues'],
  comment: ['comments'],
  reaction: ['reactions'],
  project: ['projects', 'project-updates'],
  milestone: ['milestones', 'projects'],
  cycle: ['cycles'],
  board: ['boards'],
  view: ['views'],
  label: ['labels'],
  team: ['teams'],
  workflow: ['workflows'],
  member: ['members'],
  workspace: ['workspace'],
  template: ['templates'],
  field: ['fields'],
  release: ['releases'],
  pipeline: ['pipelines'],
  sla: ['sla'],
  sla_policy: ['sla-policies'],
  calendar: ['calendars'],
  inbox: ['inbox'],
  webhook: ['webhooks', 'deliveries'],
  automation: ['proposals', 'runs', 'automations'],
  plugin: ['plugins'],
  api_key: ['api-keys'],
  // Events of favorites lack the title, so they replace no object.
  preferences: ['preferences', 'favorites'],
};

/** Time between an event and the refetch, in which a burst collects. */
const burstMs = 80;
/** Minimum time between two refetches: constant changes stay far below the rate limit of the person. */
const intervalMs = 1_000;

interface Identified {
  readonly id: string;
  readonly version?: number;
}

/** Options of a query that only some events can change, in its `meta`. */
export interface Follows {
  /** Ids of issues and comments. Events of others do not refetch the query. */
  readonly follows?: readonly string[];
  /** True if the query applies events itself. */
  readonly followsEvents?: boolean;
}

/** Receives each event after the caches of single objects and lists have its object. */
export type EventListener = (event: TatamiEvent) => void;

/** Time as the browser measures it; tests have their own. */
interface Timing {
  now(): number;
  after(ms: number, run: () => void): void;
}

const browserTiming: Timing = {
  now: () => performance.now(),
  after: (ms, run) => void setTimeout(run, ms),
};

/**
 * Applies events and refetches the queries that they may have changed otherwise. A burst of events, such as that of an
 * import, causes one refetch.
 */
export class LiveCache {
  readonly #client: QueryClient;
  readonly #timing: Timing;
  readonly #listeners = new Set<EventListener>();
  /** Ids of the changed objects by namespace; null if an event does not name its objects. */
  readonly #stale = new Map<string, Set<string> | null>();
  #isScheduled = false;
  #refetchedAt = -Infinity;

  constructor(client: QueryClient, timing: Timing = browserTiming) {
    this.#client = client;
    this.#timing = timing;
  }

  listen(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  apply(event: TatamiEvent): void {
    const [first, ...others] = namespaces[event.type.split('.')[0]!] ?? [];
    if (first === undefined) return;
    const object = event.data as unknown as Identified;
    if (typeof object.id === 'string' && !('truncated' in object)) replaceObject(this.#client, first, object);
    for (const listener of this.#listeners) listener(event);
    for (const namespace of [first, ...others]) this.#note(namespace, changedBy(event));
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const earliest = this.#refetchedAt + intervalMs - this.#timing.now();
    this.#timing.after(Math.max(burstMs, earliest), () => this.#refetch());
  }

  #note(namespace: string, ids: readonly string[] | null): void {
    const before = this.#stale.get(namespace);
    this.#stale.set(namespace, before === null || ids === null ? null : new Set([...(before ?? []), ...ids]));
  }

  #refetch(): void {
    const stale = new Map(this.#stale);
    this.#stale.clear();
    this.#isScheduled = false;
    this.#refetchedAt = this.#timing.now();
    void this.#client.invalidateQueries({
      predicate({ queryKey, meta = {} }) {
        const ids = stale.get(String(queryKey[0]));
        const { follows, followsEvents } = meta as Follows;
        // Lists of issues follow events themselves, because a deep list has many pages.
        if (ids === undefined || followsEvents === true) return false;
        return ids === null || follows === undefined || follows.some((id) => ids.has(id));
      },
    });
  }
}

/** Returns the ids of the object of an event, of its issue and of its comment; null if the data was cut. */
function changedBy({ data }: TatamiEvent): readonly string[] | null {
  if ('truncated' in data) return null;
  const { id, issue, commentId } = data as {
    readonly id?: string;
    readonly issue?: { readonly id: string } | null;
    readonly commentId?: string | null;
  };
  return [id, issue?.id, commentId].filter((one) => typeof one === 'string');
}

/** Replaces an object wherever it is cached, unless the cached one is newer. */
export function replaceObject(client: QueryClient, namespace: string, object: Identified): void {
  const queries = client.getQueryCache().findAll({ queryKey: [namespace] as QueryKey });
  for (const query of queries) {
    const before: unknown = query.state.data;
    const after = withObject(before, object);
    if (after !== before)
      client.setQueryData(query.queryKey, after, { updatedAt: query.state.dataUpdatedAt });
  }
}

/** Returns the data with the object replaced; the same data if it does not contain the object. */
function withObject(data: unknown, object: Identified): unknown {
  if (Array.isArray(data)) {
    const after = data.map((one) => withObject(one, object));
    return after.some((one, index) => one !== data[index]) ? after : data;
  }
  if (typeof data !== 'object' || data === null) return data;
  const one = data as Partial<Identified> & Record<string, unknown>;
  if (one.id === object.id) return isOlder(one, object) ? { ...one, ...shared(one, object) } : data;
  // Pages of a list, columns of a board.
  for (const part of ['pages', 'data', 'groups', 'items', 'cards', 'columns', 'lanes']) {
    if (!(part in one)) continue;
    const after = withObject(one[part], object);
    if (after !== one[part]) return { ...one, [part]: after };
  }
  return data;
}

function isOlder(cached: Partial<Identified>, object: Identified): boolean {
  return cached.version === undefined || object.version === undefined || cached.version < object.version;
}

/** Lists may hold fewer fields than events do. */
function shared(cached: object, object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name in cached));
}
