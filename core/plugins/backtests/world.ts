// What a run of the past sees in place of the workspace of now: its moment, its own values, and a door that answers reads as of that
// moment. What cannot be answered so is answered as of now, and counted.
import type { Past } from '../../changes/past.ts';
import type { Outcome, ValueCall } from '../../http/values.ts';
import type { Route } from '../../http/route.ts';
import type { SeenPast } from '../../resource/as-of/past.ts';
import type { HostDoor } from '../host-door.ts';
import type { OwnValues } from '../kv/own.ts';
import type { RunValues } from './values.ts';

export interface World {
  readonly past: Past;
  readonly values: OwnValues;
  /** The code, which perhaps no install runs. */
  readonly source: string;
  /** Isolates are shared with nobody but other runs of it. */
  readonly lane: string;
  door(real: HostDoor): HostDoor;
}

interface WorldOptions {
  readonly past: SeenPast;
  readonly values: RunValues;
  readonly source: string;
  readonly lane: string;
  /** Told of each read that was answered as of now, by its operation. */
  noteNow(operation: string): void;
}

export function worldOf({ past, values, source, lane, noteNow }: WorldOptions): World {
  /** Null where it has to be asked of now. */
  const askPast = async (real: HostDoor, route: Route, call: ValueCall): Promise<Outcome<string> | null> => {
    if (!takesAsOf(route) || showsStaged(route, call)) return null;
    const asOf = String(past.sequence);
    const outcome = await real.call(route, { ...call, query: { ...call.query, asOf } });
    // Not everything that a list of now takes is taken of the past.
    return outcome.error?.code === 'validation_failed' ? null : outcome;
  };

  return {
    ...{ past, values, source, lane },
    door: (real) => ({
      ...real,
      async call(route, call) {
        if (route === real.listKeys) return values.listed(call.query ?? {});
        if (route.kind !== 'read') return real.call(route, call);
        const then = await askPast(real, route, call);
        if (then) return then;
        const before = past.told();
        const outcome = await real.call(route, call);
        // One object is found by the log; which objects stand on a list is known of now alone.
        const isFound = route.name.endsWith('.get') && (past.told() > before || showsStaged(route, call));
        if (!isFound) noteNow(route.name);
        return outcome;
      },
    }),
  };
}

function takesAsOf({ query }: Route): boolean {
  return query !== undefined && 'asOf' in query.properties;
}

/** What the run itself has written is in no log: a single object is then shown as it staged it. */
function showsStaged({ name }: Route, { staged, params }: ValueCall): boolean {
  if (!name.endsWith('.get') || !staged) return false;
  const id = params?.id ?? '';
  // What people call it by may stand for any of them.
  return staged.changes.some((change) => change.id === id || !id.includes('_'));
}
