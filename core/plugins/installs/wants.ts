// Which events an install wants; and how that is kept when it is upgraded or granted otherwise while it is on, so that each event is
// judged by what was wanted when it happened. What happened while it was off lies in a gap (`catch-up/rows.ts`).
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import { sameValue } from '../../changes/change.ts';
import { keepWantsOp } from '../../events/past-wants.ts';
import type { Op, Scope } from '../../store/store.ts';

/** Of the consumer that turns events into runs. */
export const consumerName = 'plugins';

interface Wanting {
  readonly manifest: PluginManifest;
  readonly grant: readonly string[];
}

type Stored = Wanting & { readonly id: string; readonly state: string; readonly deletedAt: number | null };

/** What of an install decides which events it is sent. */
export interface InstallWants {
  readonly on: PluginManifest['on'] | null;
  readonly scopes: PluginManifest['scopes'] | null;
  readonly grant: readonly string[];
}

function wantsOf({ manifest, grant }: Stored): InstallWants {
  return { on: manifest.on ?? null, scopes: manifest.scopes ?? null, grant };
}

/** The install as it wanted. */
export function asItWanted<I extends Wanting>(install: I, { on, scopes, grant }: InstallWants): I {
  const { on: _on, scopes: _scopes, ...manifest } = install.manifest;
  return {
    ...install,
    manifest: { ...manifest, ...(on ? { on } : {}), ...(scopes ? { scopes } : {}) },
    grant,
  };
}

/** What goes into the batch of a change, before its events. */
export function keepPastWants(scope: Scope, before: Stored, after: Stored): Op[] {
  const isOn = [before, after].every(({ state, deletedAt }) => state === 'active' && deletedAt === null);
  const [wanted, wants] = [wantsOf(before), wantsOf(after)];
  return !isOn || sameValue(wanted, wants) ? [] : [keepWantsOp(scope, consumerName, before.id, wanted)];
}
