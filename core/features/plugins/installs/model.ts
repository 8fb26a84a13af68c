// Model of installs, and their subscriptions to events.
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import { json, plain, isoTime } from '../../../kernel/changes/operations.ts';
import { modelOf, type EntityOf } from '../../../kernel/resource/model.ts';
import { sentenceOf } from '../../../kernel/rights/table.ts';
import type { Automation, Hosts } from '../../automations/index.ts';
import { toScheduleResponse, additions, consentOf } from './versions/consent.ts';
import { plugin, type InstallMode, type InstallModes } from './contract.ts';
import { matchingTypes } from './manifest.ts';
import { digestOf, type OfferedVersions } from './versions/signature.ts';
import { effectiveSettings } from './settings.ts';
import { probationSentence } from './mode.ts';
import { sameValue } from '../../../kernel/changes/change.ts';
import { storeSubscriptionOp } from '../../../kernel/events/consumers/past-subscriptions.ts';
import type { Op, Scope } from '../../../platform/store/store.ts';

/** A version that replaces the installed one after consent. */
interface PendingVersion {
  readonly manifest: PluginManifest;
  readonly sha256: string;
  readonly publisher: string | null;
  /** Value of the upgrade request; null if the request left it unchanged. */
  readonly settings: Readonly<Record<string, unknown>> | null;
  readonly mode: InstallMode | null;
  readonly modes: InstallModes | null;
  readonly since: number;
}

const storedFields = {
  manifest: json<PluginManifest>('manifest_json'),
  grant: json<readonly string[]>('grant_json'),
  /** Values that were set explicitly. Runs and responses add the defaults of the manifest. */
  settings: json<Readonly<Record<string, unknown>>>('settings_json'),
  /** Time at which each secret was last set, by name. */
  secretsSet: json<Readonly<Record<string, number>>>('secrets_set_json'),
  /**
   * Sequence of the last event before the install was created or enabled; the plugin receives later events.
   * Set by the database.
   */
  sinceSequence: plain<number>('since_sequence'),
  pending: json<PendingVersion | null>('pending_json'),
  offered: json<OfferedVersions>('offered_json'),
  /** Number of runs that people still have to approve; 0 if the install is not on probation. */
  probationLeft: plain<number>('probation_left'),
};
export type Install = EntityOf<typeof plugin, typeof storedFields> & {
  /** Automation that the install runs; absent for a plugin (`rules.ts`). */
  readonly rule?: Automation;
  /** Hosts of the workspace, for an automation. */
  readonly hosts?: Hosts;
};

export const installModel = modelOf(plugin, {
  stored: storedFields,
  shows: {
    name: ({ manifest, pluginId }) => manifest.name ?? pluginId,
    description: ({ manifest }) => manifest.description ?? '',
    scopes: ({ manifest, grant }) =>
      Object.entries(manifest.scopes ?? {}).map(([scope, { why, fields, where }]) => ({
        scope,
        sentence: sentenceOf(scope, { fields, where }),
        why,
        fields: fields ?? null,
        where: where ?? null,
        granted: grant.includes(scope),
      })),
    events: matchingTypes,
    net: ({ manifest }) =>
      (manifest.net ?? []).map(({ origin, methods, path, why }) => ({
        origin,
        methods: methods ?? null,
        path: path ?? null,
        why,
      })),
    secrets: ({ manifest, secretsSet }) =>
      Object.entries(manifest.secrets ?? {}).map(([name, { hosts, header }]) => ({
        name,
        hosts: [...hosts],
        header,
        setAt: isoTime(secretsSet[name] ?? null),
      })),
    state: toStateResponse,
    pending: ({ pending, manifest, grant }) =>
      pending && {
        version: pending.manifest.version,
        sha256: pending.sha256,
        digest: digestOf(pending),
        publisher: pending.publisher,
        adds: additions(consentOf(pending, { manifest, grant })),
        since: isoTime(pending.since),
      },
    probation: (install) =>
      install.probationLeft > 0
        ? { runsLeft: install.probationLeft, message: probationSentence(install) }
        : null,
    settings: effectiveSettings,
    filters: ({ manifest }) =>
      Object.fromEntries(
        Object.entries(manifest.on ?? {}).flatMap(([type, { filter }]) => (filter ? [[type, filter]] : [])),
      ),
    schedules: ({ manifest }) =>
      Object.entries(manifest.schedules ?? {}).map(([name, schedule]) => toScheduleResponse(name, schedule)),
  },
  events(before, after) {
    if (!before) return ['plugin.installed'];
    return isRunning(before) && !isRunning(after) ? ['plugin.disabled'] : ['plugin.updated'];
  },
  follows: { from: 'state', fields: ['stateReason'] },
  inputs: {
    // A request can pause a plugin, and only the server disables one for another reason.
    state: { name: 'state', valueOf: ({ state }) => (state === 'active' ? state : 'paused_by_admin') },
    grant: { name: 'grant', valueOf: ({ grant }) => grant },
    probationLeft: { name: 'probation', valueOf: ({ probationLeft }) => probationLeft > 0 },
  },
  insertExpressions: {
    since_sequence: '(SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws)',
  },
  related: (scope, before, after) => ({ first: before ? storePastSubscription(scope, before, after) : [] }),
});

function isRunning({ state, deletedAt }: Install): boolean {
  return state === 'active' && deletedAt === null;
}

function toStateResponse({ state, pending, probationLeft }: Install): Install['state'] {
  if (state !== 'active') return state;
  if (pending) return 'needs_consent';
  return probationLeft > 0 ? 'probation' : 'active';
}

/** Name of the consumer that turns events into runs. */
export const consumerName = 'plugins';

/** Part of an install that determines which events it receives. */
export interface InstallSubscription {
  readonly on: PluginManifest['on'] | null;
  readonly scopes: PluginManifest['scopes'] | null;
  readonly grant: readonly string[];
}

function subscriptionOf({ manifest, grant }: Install): InstallSubscription {
  return { on: manifest.on ?? null, scopes: manifest.scopes ?? null, grant };
}

/** Returns the install with an earlier subscription in place of its current one. */
export function withPastSubscription(install: Install, { on, scopes, grant }: InstallSubscription): Install {
  const { on: _on, scopes: _scopes, ...manifest } = install.manifest;
  return {
    ...install,
    manifest: { ...manifest, ...(on ? { on } : {}), ...(scopes ? { scopes } : {}) },
    grant,
  };
}

/**
 * Returns the ops that store the previous subscription when an upgrade or a new grant of an active install
 * changes it, so that each event is matched against the subscription of its time. In the batch of the change,
 * they precede its events. Events of a disabled period are recorded as missed instead (backfill/backfill.ts).
 */
function storePastSubscription(scope: Scope, before: Install, after: Install): Op[] {
  const isOn = isRunning(before) && isRunning(after);
  const [previous, subscription] = [subscriptionOf(before), subscriptionOf(after)];
  return !isOn || sameValue(previous, subscription)
    ? []
    : [storeSubscriptionOp(scope, consumerName, before.id, previous)];
}
