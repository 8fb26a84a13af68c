// Waits for what a person decides on a proposal, by the events that tell of it.
import type { FreshEvents } from '../events/fresh.ts';
import type { EventRow } from '../events/event.ts';
import type { Clock } from '../lib/clock.ts';
import { mayConnect, type Connected } from '../lib/fairness/shares.ts';

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

interface Awaited extends Connected {
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

export function createDecisions(fresh: FreshEvents, clock: Clock): Decisions {
  /**
   * Callbacks of the waiting calls by workspace, with their callers. Calls beyond the limits of long-lived connections are answered at
   * once, and ask again.
   */
  const waiting = new Map<string, Map<() => void, Connected>>();
  let stopped = false;
  fresh.onAdded((workspaceId) => {
    for (const look of [...(waiting.get(workspaceId)?.keys() ?? [])]) look();
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
      const isFull = !mayConnect(waiting.get(workspaceId)?.values() ?? [], of);
      if (known || ms <= 0 || stopped || isFull) return Promise.resolve(known);
      return new Promise((resolve) => {
        const looks = waiting.get(workspaceId) ?? new Map<() => void, Connected>();
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
        looks.set(look, of);
      });
    },
    stop() {
      stopped = true;
      for (const looks of [...waiting.values()]) for (const look of [...looks.keys()]) look();
    },
  };
}

function shownIn({ data, dataJson }: EventRow): Decided {
  const shown = (dataJson === undefined ? data : JSON.parse(dataJson)) as Partial<Decided>;
  return { status: shown.status ?? 'rejected', reason: shown.reason ?? null };
}
