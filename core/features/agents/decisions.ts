// Waits for decisions on proposals with the events of the workspace.
import type { FreshEvents } from '../../kernel/events/consumers/fresh.ts';
import type { EventRow } from '../../kernel/events/event.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { mayConnect, type Connected } from '../../platform/lib/fairness/fair-quota.ts';

export interface Decisions {
  /**
   * Returns the last event sequence of a workspace. Must be called before the proposal is created or read, so
   * that no decision is missed.
   */
  since(workspaceId: string): number;
  /**
   * Waits for a decision after an event sequence.
   * @param ms maximum wait
   * @returns null if there was no decision in time, or if the limit of long-lived connections is reached
   */
  until(of: Awaited, since: number, ms: number): Promise<Decided | null>;
  stop(): void;
}

interface Awaited extends Connected {
  readonly workspaceId: string;
  readonly proposalId: string;
}

/** Decision on a proposal, from the data of the event. */
export interface Decided {
  readonly status: string;
  readonly reason: string | null;
}

const decided: ReadonlySet<string> = new Set(['automation.approved', 'automation.rejected']);
const eventsMax = 1_000;

export function createDecisions(fresh: FreshEvents, clock: Clock): Decisions {
  /**
   * Callbacks of the waiting calls with their callers, by workspace. Calls over the limits of long-lived
   * connections do not wait, so that their clients poll instead.
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
    return event ? toDecided(event) : null;
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
        const end = (decision: Decided | null): void => {
          looks.delete(look);
          if (looks.size === 0) waiting.delete(workspaceId);
          cancel();
          resolve(decision);
        };
        const look = (): void => {
          const decision = decisionIn(of, seen);
          seen = Math.max(seen, fresh.newest(workspaceId));
          if (decision || stopped) end(decision);
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

function toDecided({ data, dataJson }: EventRow): Decided {
  const fields = (dataJson === undefined ? data : JSON.parse(dataJson)) as Partial<Decided>;
  return { status: fields.status ?? 'rejected', reason: fields.reason ?? null };
}
