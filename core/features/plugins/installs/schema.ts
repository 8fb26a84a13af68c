// API schemas of installs and of the permissions that a plugin version requests.
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { schemasOf } from '../../../kernel/contract/schemas.ts';
import {
  plugin,
  type InstallMode,
  type InstallModes,
  installModesInput,
  installSettings,
  BudgetInput,
  publisher,
  scheduleFields,
} from './contract.ts';
import { namedSchema, Closed, enumeration, nullable } from '../../../platform/lib/schema.ts';
import { spentResponse } from '../budgets/budget.ts';
import { allScopes } from '../../../kernel/rights/table.ts';

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

const packageInput = Type.Object({}, { description: 'Package, as written by `tatami plugins pack`.' });
export const signatureInput = Type.Optional(
  Closed(
    {
      keyId: Type.String({ pattern: '^[0-9a-f]{16}$', description: 'Id of the signing key.' }),
      signature: Type.String({ maxLength: 100, description: 'Ed25519 signature, in base64.' }),
    },
    { description: 'Signature, as written by `tatami plugins sign`.' },
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

const text = (description: string) => Type.String({ description });
const texts = (description: string) => Type.Array(Type.String(), { description });

const requestFields = {
  sentence: text('Description of what the request allows.'),
  added: Type.Boolean({
    description: 'True if the previous version did not request this, or requested less.',
  }),
  before: nullable(
    text('Corresponding request of the previous version; null if there was none, or the same one.'),
  ),
};
const why = text('Reason, by the author of the plugin.');

export const Consent = namedSchema(
  'PluginRequests',
  Closed({
    version: text('Version of the package.'),
    sha256: text('SHA-256 of the code, in hex.'),
    digest: text('SHA-256 of manifest and code, in hex, to be sent with a consent.'),
    publisher,
    signature: text('Sentence about the signature.'),
    scopes: Type.Array(
      Closed({
        scope: text('Name of the scope, such as `issues:write`.'),
        why,
        rows: nullable(
          Type.Record(Type.String(), Type.Array(Type.String()), {
            description: 'Rows to which the scope is narrowed; null for all.',
          }),
        ),
        fields: nullable(texts('Fields to which the scope is narrowed; null for all.')),
        granted: Type.Boolean({ description: 'True if the scope is already granted.' }),
        ...requestFields,
      }),
      { description: 'Requested scopes.' },
    ),
    hosts: Type.Array(
      Closed({
        origin: text('Origin that the plugin can send to.'),
        methods: nullable(texts('Allowed methods; null for all.')),
        path: nullable(
          text('Allowed path; a path that ends with `/` includes all paths below; null for all.'),
        ),
        why,
        ...requestFields,
      }),
      { description: 'Requested hosts.' },
    ),
    secrets: Type.Array(
      Closed({
        name: text('Name of the secret, such as `ACME_KEY`.'),
        hosts: texts('Origins that the secret is sent to.'),
        header: text('Header that the secret is sent in.'),
        ...requestFields,
      }),
      { description: 'Secrets that an administrator sets.' },
    ),
    events: Type.Array(Closed({ type: text('Event type, such as `issue.created`.'), ...requestFields }), {
      description: 'Requested events.',
    }),
    schedules: Type.Array(Closed({ ...scheduleFields, ...requestFields }), {
      description: 'Requested schedules.',
    }),
    actions: Type.Array(
      Closed({
        name: text('Name of the action.'),
        target: enumeration('ActionTarget', ['issue', 'project', 'none'], 'Type of the target.'),
        ...requestFields,
      }),
      { description: 'Actions that the plugin offers.' },
    ),
    routes: Type.Array(
      Closed({
        name: text('Name of the route in the manifest.'),
        method: enumeration('RouteMethod', ['GET', 'POST'], 'HTTP method of the route.'),
        auth: enumeration(
          'RouteAuth',
          ['hmac', 'public'],
          'Authentication of requests: `hmac` requires a signature, `public` none.',
        ),
        why,
        ...requestFields,
      }),
      { description: 'Inbound routes, each closed until an administrator opens it.' },
    ),
    removed: texts('Requests of the previous version that this version no longer makes, one sentence each.'),
    unhandled: texts('Sentences about pending one-time jobs that this version has no handler for.'),
  }),
);
export type Consent = Static<typeof Consent>;
