// Reads a gap of the event log page by page. A page contains the events that the install subscribes to and
// that have no run of the install.
import type { EventRow } from '../../../kernel/events/event.ts';
import { pageAfter } from '../../../kernel/events/log/log.ts';
import type { Scope } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import type { Install } from '../installs/schema.ts';
import type { Planner } from '../planning/planner.ts';
import { metEvents, type BackfillRow } from './rows.ts';

const pageEvents = 200;

interface BackfillPage {
  readonly events: readonly EventRow[];
  /** Sequence of the last event read. */
  readonly to: number;
  /** True for the last page of the gap. */
  readonly ends: boolean;
}

export interface BackfillPages {
  /**
   * Returns null if the install changed during the read, because the page may mix subscriptions of both
   * versions.
   */
  read(scope: Scope, install: Install, backfill: BackfillRow, after: number): Promise<BackfillPage | null>;
}

export function createBackfillPages(deps: PluginDeps, planner: Planner): BackfillPages {
  const { registry } = deps;
  const { store } = deps.services;
  const metOf = async (
    scope: Scope,
    installId: string,
    events: readonly EventRow[],
  ): Promise<Set<string>> => {
    if (events.length === 0) return new Set();
    const roots = JSON.stringify(events.map(({ id, cause }) => cause.rootEventId ?? id));
    return new Set((await store.read(scope, metEvents, { roots, installId })).map((row) => row.event_id));
  };

  return {
    async read(scope, install, backfill, after) {
      const until = backfill.until_sequence ?? after;
      const page = await pageAfter(store, scope, after, { limit: pageEvents });
      const events = page.events.filter(({ sequence }) => sequence <= until);
      const wanted = await planner.wanted(scope, backfill.install_id, events);
      const met = await metOf(scope, backfill.install_id, wanted);
      if ((await registry.active(scope, install.id))?.version !== install.version) return null;
      return {
        events: wanted.filter(({ id }) => !met.has(id)),
        to: events.at(-1)?.sequence ?? after,
        ends: !page.more || page.through >= until,
      };
    },
  };
}
