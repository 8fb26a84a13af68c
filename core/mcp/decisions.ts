// Waits for what a person decides on a proposal, by the events that tell of it.
import type { FreshEvents } from '../events/fresh.ts';
import type { EventRow } from '../events/event.ts';
import type { Clock } from '../lib/clock.ts';

export interface Decisions {
  /** The last event of a workspace; to be asked before the proposal is made or read, so that no decision is missed. */
  since(workspaceId: string): number;
  /**
   * The proposal as it was decided after that event.
   * @param ms waits so long at most
   * @returns null where nobody has decided by then
   */
  until(of: Awaited, since: number, ms: number): Promise<Decided | null>;
  /** Has everybody wait no longer. */
  stop(): void;
}

interface Awaited {
  readonly workspaceId: string;
  readonly proposalId: string;
}

/** As the event shows it. */
export interface Decided {
  readonly status: string;
  readonly reason: string | null;
}

const decided: ReadonlySet<string> = new Set(['automation.approved', 'automation.rejected']);
const eventsMax = 1_000;
/** So many may wait in a workspace at a time; others are answered at once, and ask again. */
const waitingMax = 100;

export function createDecisions(fresh: FreshEvents, clock: Clock): Decisions {
  /** By workspace, who looks when events were added. */
  const waiting = new Map<string, Set<() => void>>();
  let stopped = false;
  fresh.onAdded((workspaceId) => {
    for (const look of [...(waiting.get(workspaceId) ?? [])]) look();
  });

  const decisionIn = ({ workspaceId, proposalId }: Awaited, since: number): Decided | null => {
    const event = (fresh.after(workspaceId, since, eventsMax) ?? []).find(
      ({ entityId, type }) => entityId === proposalId && decided.has(type),
    );
    return event ? shownIn(event) : null;
  };

  return {
    since: (workspaceId) => fresh.newest(workspaceId),
    until(of, since, ms) {
      const { workspaceId } = of;
      const known = decisionIn(of, since);
      const isFull = (waiting.get(workspaceId)?.size ?? 0) >= waitingMax;
      if (known || ms <= 0 || stopped || isFull) return Promise.resolve(known);
      return new Promise((resolve) => {
        const looks = waiting.get(workspaceId) ?? new Set();
        waiting.set(workspaceId, looks);
        let seen = since;
        const end = (found: Decided | null): void => {
          looks.delete(look);
          if (looks.size === 0) waiting.delete(workspaceId);
          cancel();
          resolve(found);
        };
        const look = (): void => {
          const found = decisionIn(of, seen);
          seen = Math.max(seen, fresh.newest(workspaceId));
          if (found || stopped) end(found);
        };
        const cancel = clock.after(ms, () => end(null));
        looks.add(look);
      });
    },
    stop() {
      stopped = true;
      for (const looks of [...waiting.values()]) for (const look of [...looks]) look();
    },
  };
}

function shownIn({ data, dataJson }: EventRow): Decided {
  const shown = (dataJson === undefined ? data : JSON.parse(dataJson)) as Partial<Decided>;
  return { status: shown.status ?? 'rejected', reason: shown.reason ?? null };
}
