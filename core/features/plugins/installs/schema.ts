// Defines the stored fields and the API schemas of installs.
import { Type, type TObject, type TSchema } from 'typebox';
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import { json, plain, isoTime } from '../../../kernel/changes/operations.ts';
import { schemasOf } from '../../../kernel/contract/schemas.ts';
import { Closed, enumeration, namedSchema } from '../../../platform/lib/schema.ts';
import { modelOf, type EntityOf } from '../../../kernel/resource/model.ts';
import { allScopes, sentenceOf } from '../../../kernel/rights/table.ts';
import { spentResponse } from '../budgets/schema.ts';
import { toScheduleResponse } from './consent/consent-sentences.ts';
import { additions, consentOf } from './consent/consent.ts';
import {
  BudgetInput,
  installModesInput,
  installSettings,
  plugin,
  type InstallMode,
  type InstallModes,
} from './contract.ts';
import { matchingTypes } from './versions/matching-types.ts';
import { digestOf, type OfferedVersions } from './consent/reviewed.ts';
import { effectiveSettings } from './settings/settings.ts';
import { probationSentence } from './mode.ts';
import { storePastSubscription } from './versions/subscription.ts';

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
export type Install = EntityOf<typeof plugin, typeof storedFields>;

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
    const running = ({ state, deletedAt }: Install): boolean => state === 'active' && deletedAt === null;
    return running(before) && !running(after) ? ['plugin.disabled'] : ['plugin.updated'];
  },
  special: {
    insertExpressions: {
      since_sequence: '(SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws)',
    },
    related: (scope, before, after) => ({ first: before ? storePastSubscription(scope, before, after) : [] }),
  },
});

function toStateResponse({ state, pending, probationLeft }: Install): Install['state'] {
  if (state !== 'active') return state;
  if (pending) return 'needs_consent';
  return probationLeft > 0 ? 'probation' : 'active';
}

export const InstallResponse = schemasOf(plugin).response;
/** An install with the budget that its runs wait for, which is not part of its events. */
export const InstallStatus = namedSchema(
  'InstalledPlugin',
  Closed({
    ...(InstallResponse as TSchema as TObject).properties,
    waitsFor: spentResponse('Exhausted daily budget that runs wait for; null if there is none.'),
  }),
);

const grant = Type.Array(enumeration('Scope', allScopes), {
  maxItems: 100,
  uniqueItems: true,
  description: 'Granted scopes, out of those in the manifest.',
});
const mode = Type.Optional(Type.Unsafe<InstallMode>(plugin.fields.mode.input));
const modes = Type.Optional(Type.Unsafe<InstallModes>(installModesInput));
const probation = Type.Optional(
  Type.Boolean({
    description:
      'True to put the plugin on probation, during which its writes become proposals until people have approved 20 runs; false to end probation. Default true for a new install; an upgrade leaves it unchanged.',
  }),
);
const sha256 = Type.Optional(
  Type.String({
    pattern: '^[0-9a-f]{64}$',
    description:
      'SHA-256 of the intended code. Required if the server has trusted publishers and none of them signed the package.',
  }),
);

const packageInput = Type.Object({}, { description: 'Package, as written by `tatami plugin pack`.' });
export const signatureInput = Type.Optional(
  Closed(
    {
      keyId: Type.String({ pattern: '^[0-9a-f]{16}$', description: 'Id of the signing key.' }),
      signature: Type.String({ maxLength: 100, description: 'Ed25519 signature, in base64.' }),
    },
    { description: 'Signature, as written by `tatami plugin sign`.' },
  ),
);

export const InstallCreate = namedSchema(
  'PluginInstall',
  Closed({
    package: packageInput,
    grant: Type.Optional(
      Type.Array(enumeration('Scope', allScopes), {
        maxItems: 100,
        uniqueItems: true,
        description:
          'Granted scopes, out of those in the manifest. An upgrade can omit it to retain the granted scopes; further requests are then pending consent.',
      }),
    ),
    signature: signatureInput,
    sha256,
    settings: Type.Optional(installSettings),
    mode,
    modes,
    probation,
    downgrade: Type.Optional(
      Type.Boolean({ description: 'True to allow a version older than the installed one; default false.' }),
    ),
    replace: Type.Optional(
      Type.Boolean({
        description: 'True to allow different code under the installed version number; default false.',
      }),
    ),
  }),
);
export const InstallUpdate = namedSchema(
  'PluginUpdate',
  Closed({
    grant: Type.Optional(grant),
    settings: Type.Optional(installSettings),
    mode,
    modes,
    state: Type.Optional(
      enumeration(
        'PluginStateGiven',
        ['active', 'paused_by_admin'],
        'New state: `active` enables the plugin, `paused_by_admin` pauses it.',
      ),
    ),
    probation,
    budget: Type.Optional(BudgetInput),
  }),
);
export const InstallPreviewed = namedSchema(
  'PluginPreview',
  Closed({ package: packageInput, signature: signatureInput }),
);
export const ConsentInput = namedSchema(
  'PluginConsent',
  Closed({
    grant,
    sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description:
          '`pending.sha256` of the reviewed version. Sufficient without `digest` if its code was uploaded with only one manifest.',
      }),
    ),
    digest: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description:
          '`pending.digest` of the reviewed version. The request fails with 409 if another version is pending, or without both `digest` and `sha256`.',
      }),
    ),
  }),
);
