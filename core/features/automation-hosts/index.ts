// Hosts of automations. A change of the place that a secret is sent to removes the secret, because an admin set
// it for that place.
import { Type } from 'typebox';
import type { Change } from '../../kernel/changes/change.ts';
import { getEntity, requireVersion } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { requirePerson } from '../../kernel/rights/rights.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { plainOperations } from '../../kernel/resource/operations.ts';
import { sampleId, timeAfter } from '../../kernel/samples.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import { requireOrigin, requirePath, requireSecretHeader } from '../../platform/lib/egress/permission.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { Closed, idOf } from '../../platform/lib/schema.ts';
import { sealedFor, type Sealing } from '../../platform/lib/secrets/sealing.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Scope, type Store } from '../../platform/store/store.ts';
import { automationHost } from './contract.ts';
import { automationHostTable } from './tables.ts';

type AutomationHost = EntityOf<typeof automationHost>;

const automationHostModel = modelOf(automationHost, { table: automationHostTable.name });

const storeSecret = tenantStatement(
  'automation_hosts.store_secret',
  'UPDATE automation_hosts SET secret_sealed = :sealed WHERE workspace_id = :ws AND id = :id',
);
const readSecret = automationHostTable.select('secret', ['secret_sealed'], ['id']);
const all = automationHostTable.select(
  'present',
  ['id', 'name', 'origin', 'path', 'header', 'format', 'secret_set_at'],
  [],
  'AND deleted_at IS NULL',
);

const purposeOf = (workspaceId: string, id: string) => sealedFor('automation-host', workspaceId, id);

/** Returns the secret of a host; undefined while unset. @throws Error if it cannot be decrypted */
export async function openHostSecret(
  { store, sealing }: { readonly store: Store; readonly sealing: Sealing },
  scope: Scope,
  id: string,
): Promise<string | undefined> {
  const row = await readSecret.one(store, scope, { id });
  if (!row?.secret_sealed) return undefined;
  return sealing.open(new Uint8Array(row.secret_sealed), purposeOf(scope.workspaceId, id));
}

/** Returns the present hosts of a workspace. */
export const hostsIn = (store: Store, scope: Scope) => all.all(store, scope, {});

const plainly = plainOperations(automationHost, automationHostModel, {});
const places = ['origin', 'path', 'header', 'format'] as const;
const Secret = Closed({
  value: Type.String({
    minLength: 8,
    maxLength: 4096,
    pattern: '^[!-~]+$',
    description: 'Value of the secret: 8 to 4,096 visible ASCII characters.',
  }),
});

const resource = defineResource(automationHost, automationHostModel, {
  async check(ctx, { id, name, origin, path, header, format }, before) {
    requirePerson(ctx, 'change the hosts of automations');
    if (format !== null && header === null)
      throw invalidField(
        'format',
        'conflict',
        'Give the `header` that the secret is sent in, or leave out `format`.',
      );
    requireOrigin('origin', origin);
    if (path !== null) requirePath('path', path);
    if (header !== null) requireSecretHeader('header', header);
    if (origin === new URL(ctx.baseUrl).origin)
      throw invalidField('origin', 'conflict', {
        why: 'The origin is this server.',
        fix: 'Use the other actions for changes on this server.',
      });
    if (name === before?.name) return;
    const taken = (await hostsIn(ctx.store, ctx.scope)).some((one) => one.name === name && one.id !== id);
    if (taken)
      throw invalidField('name', 'already_exists', {
        why: `There is already a host ${name}.`,
        fix: 'Use another name.',
      });
  },
  operations: {
    async update(ctx, id, body, ifMatch) {
      const before = await getEntity(ctx, automationHostModel, id);
      const set = await plainly.update(ctx, id, body, ifMatch);
      const [change] = set.changes as readonly (Change & { readonly after: AutomationHost })[];
      if (!change || !places.some((place) => change.after[place] !== before[place])) return set;
      const without = automationHostModel.update(
        before,
        { ...change.after, secretSetAt: null },
        ctx.nowMs(),
      )!;
      return {
        ...set,
        changes: [without],
        ops: [tenantOp(ctx.scope, storeSecret, { id, sealed: null })],
        body: automationHostModel.toResponse(without.after, ctx),
      };
    },
    async delete(ctx, id, ifMatch) {
      requirePerson(ctx, 'remove the hosts of automations');
      const set = await plainly.delete(ctx, id, ifMatch);
      return { ...set, ops: [tenantOp(ctx.scope, storeSecret, { id, sealed: null })] };
    },
  },
  routes: [
    defineRoute({
      method: 'PUT',
      path: '/api/v1/automation-hosts/{id}/secret',
      name: 'automation-hosts.set-secret',
      summary: 'Set the secret of a host of automations',
      description: 'The value is encrypted at rest, sent only in `header` to `origin`, and never shown.',
      scope: 'workspace:write',
      limit: 'write',
      params: Closed({ id: idOf(automationHost.id) }),
      body: Secret,
      example: { value: 'sk_test_1234567890' },
      errors: ['conflict', 'forbidden'],
      responses: { 200: schemasOf(automationHost).response },
      write: (ctx, { params, body, ifMatch }) => setSecret(ctx, params.id, body.value, ifMatch),
    }),
  ],
});

async function setSecret(ctx: Context, id: string, value: string, ifMatch: number | null) {
  requirePerson(ctx, 'set the secret of a host');
  const host = await getEntity(ctx, automationHostModel, id);
  requireVersion(host, ifMatch);
  if (host.header === null)
    throw new ApiError('conflict', 'The host has no `header` to send the secret in. Set `header` first.');
  // The time is strictly increasing, so that two changes within a millisecond differ.
  const secretSetAt = Math.max(ctx.nowMs(), (host.secretSetAt ?? 0) + 1);
  const change = automationHostModel.update(host, { secretSetAt }, ctx.nowMs())!;
  const sealed = ctx.sealing.seal(value, purposeOf(ctx.workspaceId, id));
  return {
    changes: [change],
    ops: [tenantOp(ctx.scope, storeSecret, { id, sealed })],
    body: automationHostModel.toResponse(change.after, ctx),
  };
}

export const automationHosts = defineFeature({
  name: 'automation-hosts',
  resources: [resource],
  tagGroup: 'Plugins',
  samples: ({ nowMs }) => ({
    objects: {
      automation_host: {
        id: sampleId('ath'),
        name: 'chat',
        origin: 'https://chat.acme.example',
        path: '/v1/',
        header: 'authorization',
        format: 'Bearer {}',
        secretSetAt: timeAfter(nowMs, -9),
      } satisfies Partial<EntityResponse<typeof automationHost>>,
    },
    moments: { 'automation_host.updated': { previous: { secretSetAt: null } } },
  }),
});
