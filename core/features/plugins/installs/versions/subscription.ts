// Stores the previous subscriptions of an active install when an upgrade or a new grant changes them, so that
// each event is matched against the subscriptions of its time. Events of a disabled period are recorded as
// missed instead (backfill/rows.ts).
import type { PluginManifest } from '../../../../../sdk/plugin/manifest.ts';
import { sameValue } from '../../../../kernel/changes/change.ts';
import { storeSubscriptionOp } from '../../../../kernel/events/consumers/past-subscriptions.ts';
import type { Op, Scope } from '../../../../platform/store/store.ts';

/** Name of the consumer that turns events into runs. */
export const consumerName = 'plugins';

interface SubscriptionSource {
  readonly manifest: PluginManifest;
  readonly grant: readonly string[];
}

type Stored = SubscriptionSource & {
  readonly id: string;
  readonly state: string;
  readonly deletedAt: number | null;
};

/** Part of an install that determines which events it receives. */
export interface InstallSubscription {
  readonly on: PluginManifest['on'] | null;
  readonly scopes: PluginManifest['scopes'] | null;
  readonly grant: readonly string[];
}

function subscriptionOf({ manifest, grant }: Stored): InstallSubscription {
  return { on: manifest.on ?? null, scopes: manifest.scopes ?? null, grant };
}

/** Returns the install with an earlier subscription in place of its current one. */
export function withPastSubscription<I extends SubscriptionSource>(
  install: I,
  { on, scopes, grant }: InstallSubscription,
): I {
  const { on: _on, scopes: _scopes, ...manifest } = install.manifest;
  return {
    ...install,
    manifest: { ...manifest, ...(on ? { on } : {}), ...(scopes ? { scopes } : {}) },
    grant,
  };
}

/**
 * Returns the ops that store the previous subscription. In the batch of the change, they precede its events.
 */
export function storePastSubscription(scope: Scope, before: Stored, after: Stored): Op[] {
  const isOn = [before, after].every(({ state, deletedAt }) => state === 'active' && deletedAt === null);
  const [previous, subscription] = [subscriptionOf(before), subscriptionOf(after)];
  return !isOn || sameValue(previous, subscription)
    ? []
    : [storeSubscriptionOp(scope, consumerName, before.id, previous)];
}
