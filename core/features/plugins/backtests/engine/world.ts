// Environment of a trial: the time of its event, separate stored values, and an API that answers reads as of
// that time. Reads that the event log cannot answer return present data and are counted.
import type { Past } from '../../../../kernel/changes/find.ts';
import type { Outcome, ValueCall } from '../../../../kernel/http/values.ts';
import type { Route } from '../../../../kernel/http/route.ts';
import type { SeenPast } from '../../../../kernel/resource/as-of/past.ts';
import type { HostGateway } from '../../host-calls/host-gateway.ts';
import type { OwnValues } from '../../kv/own.ts';
import type { RunValues } from '../values.ts';

export interface World {
  readonly past: Past;
  readonly values: OwnValues;
  /** Code of the version, which may not be installed. */
  readonly source: string;
  /** Install id of the isolates, shared only among runs of this version. */
  readonly isolateId: string;
  gateway(real: HostGateway): HostGateway;
}

interface WorldOptions {
  readonly past: SeenPast;
  readonly values: RunValues;
  readonly source: string;
  readonly isolateId: string;
  /** Called for each read that returned present data, with its operation. */
  noteNow(operation: string): void;
}

export function worldOf({ past, values, source, isolateId, noteNow }: WorldOptions): World {
  /** Returns null if the read must be answered with present data. */
  const askPast = async (
    real: HostGateway,
    route: Route,
    call: ValueCall,
  ): Promise<Outcome<string> | null> => {
    if (!takesAsOf(route) || showsStaged(route, call)) return null;
    const asOf = String(past.sequence);
    const outcome = await real.call(route, { ...call, query: { ...call.query, asOf } });
    // Some list parameters are not supported for the past.
    return outcome.error?.code === 'validation_failed' ? null : outcome;
  };

  return {
    past,
    values,
    source,
    isolateId,
    gateway: (real) => ({
      ...real,
      async call(route, call) {
        if (route === real.listKeys) return values.listed(call.query ?? {});
        if (route.kind !== 'read') return real.call(route, call);
        const then = await askPast(real, route, call);
        if (then) return then;
        const before = past.answered();
        const outcome = await real.call(route, call);
        // A single object is read from the log; the members of a list are known only for the present.
        const isFromLog =
          route.name.endsWith('.get') && (past.answered() > before || showsStaged(route, call));
        if (!isFromLog) noteNow(route.name);
        return outcome;
      },
    }),
  };
}

function takesAsOf({ query }: Route): boolean {
  return query !== undefined && 'asOf' in query.properties;
}

/** True if a read of a single object must show the run's staged writes, which are not in the log. */
function showsStaged({ name }: Route, { staged, params }: ValueCall): boolean {
  if (!name.endsWith('.get') || !staged) return false;
  const id = params?.id ?? '';
  // An identifier such as `ENG-12` may refer to any staged object.
  return staged.changes.some((change) => change.id === id || !id.includes('_'));
}
