// How installs are stored and shown, and the bodies that make and change them.
import { Type, type TObject, type TSchema } from 'typebox';
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import { json, plain } from '../../changes/columns.ts';
import { isoTime } from '../../changes/operations.ts';
import { schemasOf } from '../../contract/schemas.ts';
import { Closed, enumeration, named } from '../../lib/schema.ts';
import { kindOf, type EntityOf } from '../../resource/kind.ts';
import { allScopes } from '../../rights/scopes.ts';
import { sentenceOf } from '../../rights/words.ts';
import { spentShown } from '../budgets/schema.ts';
import { shownSchedule } from './asked-sentences.ts';
import { additions, consentOf } from './consent.ts';
import {
  BudgetGiven,
  installModesGiven,
  installSettings,
  plugin,
  type InstallMode,
  type InstallModes,
} from './contract.ts';
import { heardTypes } from './hearing.ts';
import { digestOf, type OfferedVersions } from './reviewed.ts';
import { effectiveSettings } from './settings.ts';
import { probationSentence } from './mode.ts';
import { keepPastWants } from './wants.ts';

/** What takes the place of the running version once somebody consents. */
interface PendingVersion {
  readonly manifest: PluginManifest;
  readonly sha256: string;
  readonly publisher: string | null;
  /** As the upgrade gave them; null where it left them as they are. */
  readonly settings: Readonly<Record<string, unknown>> | null;
  readonly mode: InstallMode | null;
  readonly modes: InstallModes | null;
  readonly since: number;
}

const kept = {
  manifest: json<PluginManifest>('manifest_json'),
  grant: json<readonly string[]>('grant_json'),
  /** What somebody gave; shown, and given to runs, with the defaults of the manifest. */
  settings: json<Readonly<Record<string, unknown>>>('settings_json'),
  /** When each of its secrets was set, by name. */
  secretsSet: json<Readonly<Record<string, number>>>('secrets_set_json'),
  /** The last event before it was installed or switched on: it listens to what comes after. Set by the database. */
  sinceSequence: plain<number>('since_sequence'),
  pending: json<PendingVersion | null>('pending_json'),
  offered: json<OfferedVersions>('offered_json'),
  /** Runs that people have still to approve; 0 of an install that is not on probation. */
  probationLeft: plain<number>('probation_left'),
};
export type Install = EntityOf<typeof plugin, typeof kept>;

export const installKind = kindOf(plugin, {
  kept,
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
    events: heardTypes,
    net: ({ manifest }) =>
      (manifest.net ?? []).map(({ origin, methods, path, why }) => ({
        ...{ origin, methods: methods ?? null, path: path ?? null, why },
      })),
    secrets: ({ manifest, secretsSet }) =>
      Object.entries(manifest.secrets ?? {}).map(([name, { hosts, header }]) => ({
        ...{ name, hosts: [...hosts], header, setAt: isoTime(secretsSet[name] ?? null) },
      })),
    state: shownState,
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
      Object.entries(manifest.schedules ?? {}).map(([name, schedule]) => shownSchedule(name, schedule)),
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
    related: (scope, before, after) => ({ first: before ? keepPastWants(scope, before, after) : [] }),
  },
});

function shownState({ state, pending, probationLeft }: Install): Install['state'] {
  if (state !== 'active') return state;
  if (pending) return 'needs_consent';
  return probationLeft > 0 ? 'probation' : 'active';
}

export const InstallShown = schemasOf(plugin).shown;
/** As it stands, which its events do not say. */
export const InstallStanding = named(
  'PluginStanding',
  Closed({
    ...(InstallShown as TSchema as TObject).properties,
    waitsFor: spentShown('Set while its budget of the day is spent and its runs wait for the next.'),
  }),
);

const grant = Type.Array(enumeration('Scope', allScopes), {
  maxItems: 100,
  uniqueItems: true,
  description: 'The scopes that it gets, of those its manifest asks.',
});
const mode = Type.Optional(Type.Unsafe<InstallMode>(plugin.fields.mode.given));
const modes = Type.Optional(Type.Unsafe<InstallModes>(installModesGiven));
const probation = Type.Optional(
  Type.Boolean({
    description:
      'True puts the plugin on probation: it only proposes what it would write, until people have approved 20 of its runs. False ends probation. Default of a new install: true; of an upgrade: as it was.',
  }),
);
const sha256 = Type.Optional(
  Type.String({
    pattern: '^[0-9a-f]{64}$',
    description:
      'The SHA-256 of the code that is meant. Where the operator trusts publishers, it confirms a package that none of them signed.',
  }),
);

const packageGiven = Type.Object(
  {},
  { description: 'A package document, as `tatami plugin pack` writes it.' },
);
export const signatureGiven = Type.Optional(
  Closed(
    {
      keyId: Type.String({ pattern: '^[0-9a-f]{16}$', description: 'Which key signed it.' }),
      signature: Type.String({ maxLength: 100, description: 'The Ed25519 signature, in base64.' }),
    },
    { description: 'As `tatami plugin sign` writes it.' },
  ),
);

export const InstallCreate = named(
  'PluginInstall',
  Closed({
    package: packageGiven,
    grant: Type.Optional(
      Type.Array(enumeration('Scope', allScopes), {
        maxItems: 100,
        uniqueItems: true,
        description:
          'The scopes that it gets, of those its manifest asks. An upgrade may leave it out: scopes then stay as granted, and what the version asks beyond that waits for consent.',
      }),
    ),
    signature: signatureGiven,
    sha256,
    settings: Type.Optional(installSettings),
    mode,
    modes,
    probation,
    downgrade: Type.Optional(Type.Boolean({ description: 'Allow an older version than the one installed.' })),
    replace: Type.Optional(
      Type.Boolean({ description: 'Allow other code under the version that is installed.' }),
    ),
  }),
);
export const InstallUpdate = named(
  'PluginUpdate',
  Closed({
    grant: Type.Optional(grant),
    settings: Type.Optional(installSettings),
    mode,
    modes,
    state: Type.Optional(enumeration('PluginStateGiven', ['active', 'paused_by_admin'], 'Whether it runs.')),
    probation,
    budget: Type.Optional(BudgetGiven),
  }),
);
export const InstallPreviewed = named(
  'PluginPreview',
  Closed({ package: packageGiven, signature: signatureGiven }),
);
export const ConsentGiven = named(
  'PluginConsent',
  Closed({
    grant,
    sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description:
          '`pending.sha256` of the version that was reviewed. Enough without `digest` where its code was uploaded with one manifest only.',
      }),
    ),
    digest: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description:
          '`pending.digest` of the version that was reviewed. Without it or `sha256`, and where another version waits by now, the answer is 409.',
      }),
    ),
  }),
);
