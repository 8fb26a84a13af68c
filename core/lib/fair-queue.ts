// A queue that is fair by workspace, then by payer: whoever queues a thousand things waits behind their own, and costs
// everybody else one turn.

/** Whose turn it is; a `Scope` of the store is one. */
export interface Owner {
  readonly workspaceId: string;
  /** `key_…`, `plg_…`, `whe_…`; null is the workspace itself. */
  readonly payer: string | null;
}

export interface FairQueue<T> {
  readonly size: number;
  push(owner: Owner, item: T): void;
  /** The next in turn among those whose owner may go; undefined when there is none. */
  shift(mayGo?: (owner: Owner) => boolean): { readonly owner: Owner; readonly item: T } | undefined;
  /** How many wait of an owner's workspace, and of its payer there. */
  waiting(owner: Owner): { readonly workspace: number; readonly payer: number };
}

interface Line<T> {
  count: number;
  /** In the order of their turns: the first is next. */
  readonly payers: Map<string | null, T[]>;
}

export function createFairQueue<T>(): FairQueue<T> {
  /** In the order of their turns: the first is next. */
  const lines = new Map<string, Line<T>>();
  let size = 0;

  const take = (workspaceId: string, line: Line<T>, payer: string | null, items: T[]): T => {
    const item = items.shift()!;
    line.payers.delete(payer);
    if (items.length > 0) line.payers.set(payer, items);
    line.count--;
    lines.delete(workspaceId);
    if (line.count > 0) lines.set(workspaceId, line);
    size--;
    return item;
  };

  return {
    get size() {
      return size;
    },
    push({ workspaceId, payer }, item) {
      let line = lines.get(workspaceId);
      if (!line) lines.set(workspaceId, (line = { count: 0, payers: new Map() }));
      const items = line.payers.get(payer);
      if (items) items.push(item);
      else line.payers.set(payer, [item]);
      line.count++;
      size++;
    },
    shift(mayGo = () => true) {
      for (const [workspaceId, line] of lines)
        for (const [payer, items] of line.payers) {
          const owner = { workspaceId, payer };
          if (mayGo(owner)) return { owner, item: take(workspaceId, line, payer, items) };
        }
      return undefined;
    },
    waiting({ workspaceId, payer }) {
      const line = lines.get(workspaceId);
      return { workspace: line?.count ?? 0, payer: line?.payers.get(payer)?.length ?? 0 };
    },
  };
}
