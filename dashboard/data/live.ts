// Applies events to what the app has loaded. Query keys begin with the namespace of the API (`issues`, `projects`, …).
import type { QueryClient, QueryKey } from '@tanstack/react-query';
import type { TatamiEvent } from '@tatami/sdk/client';

/** Namespaces of the API whose objects the events of a namespace change. The first one holds the object itself. */
const namespaces: Readonly<Record<string, readonly string[]>> = {
  issue: ['issues'],
  comment: ['comments', 'timeline'],
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
  automation: ['proposals', 'runs'],
  plugin: ['plugins'],
  api_key: ['api-keys'],
  // Events of favorites lack the title, so they replace no object.
  preferences: ['preferences', 'favorites'],
};

interface Identified {
  readonly id: string;
  readonly version?: number;
}

/** Receives each event after the caches of single objects and lists have its object. */
export type EventListener = (event: TatamiEvent) => void;

/**
 * Applies events and refetches what they may have changed otherwise. A burst of events, such as that of an import,
 * causes one refetch.
 */
export class LiveCache {
  readonly #client: QueryClient;
  readonly #listeners = new Set<EventListener>();
  readonly #stale = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(client: QueryClient) {
    this.#client = client;
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
    for (const namespace of [first, ...others]) this.#stale.add(namespace);
    if (this.#timer === null) this.#timer = setTimeout(() => this.#refetch(), 80);
  }

  #refetch(): void {
    const stale = [...this.#stale];
    this.#stale.clear();
    this.#timer = null;
    for (const namespace of stale)
      void this.#client.invalidateQueries({
        // Lists of issues follow events themselves, because a deep list has many pages.
        predicate: ({ queryKey, meta }) => queryKey[0] === namespace && meta?.['followsEvents'] !== true,
      });
  }
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
