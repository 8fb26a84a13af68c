// Routes to list, set and delete the secrets of an install. Each change is also a change of the install, so
// that the event log has its author and time; the encrypted value is in a separate row.
import { Type } from 'typebox';
import { Closed, described, namedSchema, nullable, time } from '../../../platform/lib/schema.ts';
import { defineRoute } from '../../../kernel/http/route.ts';
import { pluginRef, pluginVisibility, steering } from '../installs/rights.ts';
import type { Change, ChangeSet } from '../../../kernel/changes/change.ts';
import { requireVersion } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { getInstall } from '../installs/installs.ts';
import { installModel, type Install } from '../installs/model.ts';
import { dropSecretOp, storeSecretOp } from './rows.ts';

const secretName = Type.String({
  pattern: '^[A-Z][A-Z0-9_]{0,39}$',
  description: 'Name of the secret in the manifest, such as `ACME_KEY`.',
});

const SecretResponse = namedSchema(
  'PluginSecret',
  Closed({
    name: Type.String({ description: 'Name of the secret in the manifest.' }),
    hosts: Type.Array(Type.String(), { description: 'Origins that the secret is sent to.' }),
    header: Type.String({ description: 'Header that the secret is sent in.' }),
    setAt: nullable(described(time, 'Time at which the secret was last set; null while unset.')),
  }),
);

const SecretSet = namedSchema(
  'PluginSecretSet',
  Closed({
    // A shorter value could match ordinary text in responses, which `createRedact` must not change.
    value: Type.String({
      pattern: '^[!-~]([ -~]*[!-~])?$',
      minLength: 8,
      maxLength: 4096,
      writeOnly: true,
      description: 'Value of the secret: 8 to 4,096 printable ASCII characters. Never shown again.',
    }),
  }),
);

const ofPlugin = Closed({ id: pluginRef });
const params = Closed({ id: pluginRef, name: secretName });

async function listSecrets(ctx: Context, pluginId: string) {
  return { data: secretResponses(ctx, await getInstall(ctx, pluginId)) };
}

async function getSecret(ctx: Context, pluginId: string, name: string) {
  return oneOf(ctx, await getInstall(ctx, pluginId), name);
}

async function setSecret(
  ctx: Context,
  pluginId: string,
  name: string,
  value: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  requireVersion(install, ifMatch);
  oneOf(ctx, install, name);
  const now = ctx.nowMs();
  // The time is strictly increasing, so that two changes within a millisecond differ.
  const setAt = Math.max(now, (install.secretsSet[name] ?? 0) + 1);
  const change = changeOf(ctx, install, { ...install.secretsSet, [name]: setAt });
  return {
    changes: [change],
    ops: [storeSecretOp(ctx, install.id, name, value)],
    body: oneOf(ctx, change.after as Install, name),
  };
}

async function deleteSecret(
  ctx: Context,
  pluginId: string,
  name: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, pluginId);
  requireVersion(install, ifMatch);
  // The check uses the stored secrets, not the manifest, so that a secret that the present version does not
  // declare can be deleted.
  if (!Object.hasOwn(install.secretsSet, name))
    throw new ApiError('not_found', `The secret ${name} is not set. Set it first.`);
  const { [name]: _, ...others } = install.secretsSet;
  return {
    changes: [changeOf(ctx, install, others)],
    ops: [dropSecretOp(ctx.scope, install.id, name)],
    body: undefined,
  };
}

function changeOf(ctx: Context, install: Install, secretsSet: Install['secretsSet']): Change {
  const change = installModel.update(install, { secretsSet }, ctx.nowMs());
  if (!change) throw new Error('The change of a secret did not change its install.');
  return change;
}

function secretResponses(ctx: Context, install: Install) {
  return installModel.toResponse(install, ctx).secrets;
}

/** @throws ApiError not_found, naming the declared secrets */
function oneOf(ctx: Context, install: Install, name: string) {
  const all = secretResponses(ctx, install);
  const secret = all.find((one) => one.name === name);
  if (secret) return secret;
  const names = all.map((one) => one.name).join(', ') || 'none';
  throw new ApiError('not_found', `The plugin declares no secret ${name}. Declared secrets: ${names}.`);
}

export const secretRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/plugins/{id}/secrets',
    name: 'plugins.secrets.list',
    summary: 'List the secrets of a plugin',
    scope: 'plugins:read',
    also: pluginVisibility,
    limit: 'read',
    params: ofPlugin,
    responses: {
      200: Closed({
        data: Type.Array(SecretResponse, { description: 'All secrets that the manifest declares.' }),
      }),
    },
    read: (ctx, { params }) => listSecrets(ctx, params.id),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/plugins/{id}/secrets/{name}',
    name: 'plugins.secrets.get',
    summary: 'Get a secret of a plugin, without its value',
    scope: 'plugins:read',
    also: pluginVisibility,
    limit: 'read',
    params,
    responses: { 200: SecretResponse },
    read: (ctx, { params }) => getSecret(ctx, params.id, params.name),
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/v1/plugins/{id}/secrets/{name}',
    name: 'plugins.secrets.set',
    summary: 'Set a secret of a plugin',
    description:
      'The value is stored encrypted, sent only to the hosts in the manifest, and never shown again.',
    scope: 'plugins:write',
    also: steering,
    limit: 'write',
    params,
    body: SecretSet,
    example: { value: 'sk_test_1234567890' },
    responses: { 200: SecretResponse },
    write: (ctx, { params, body, ifMatch }) => setSecret(ctx, params.id, params.name, body.value, ifMatch),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/plugins/{id}/secrets/{name}',
    name: 'plugins.secrets.delete',
    summary: 'Delete a secret of a plugin',
    scope: 'plugins:write',
    also: steering,
    limit: 'write',
    params,
    responses: { 204: null },
    write: (ctx, { params, ifMatch }) => deleteSecret(ctx, params.id, params.name, ifMatch),
  }),
];
