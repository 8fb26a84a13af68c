// Routes that read and update the workspace of the token.
import { getEntity, updated } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { callingMember, isAdmin } from './roles.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { workspace } from './contract.ts';
import type { GuardedClass } from '../../platform/lib/guarded-classes.ts';
import { workspaceTable } from './tables.ts';
import type { Scope, Store } from '../../platform/store/store.ts';

export const workspaceModel = modelOf(workspace, { table: 'workspaces' });
const { response, update } = schemasOf(workspace);

export const workspaces = defineResource(workspace, workspaceModel, {
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/v1/workspace',
      name: 'workspace.get',
      summary: 'Get the workspace of the token',
      scope: 'workspace:read',
      limit: 'read',
      responses: { 200: response },
      read: async (ctx) =>
        workspaceModel.toResponse(await getEntity(ctx, workspaceModel, ctx.workspaceId), ctx),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/api/v1/workspace',
      name: 'workspace.update',
      summary: 'Update the name, public triage and guarded actions of the workspace',
      scope: 'workspace:write',
      limit: 'write',
      body: update,
      example: workspace.examples.update,
      responses: { 200: response },
      async write(ctx, { body, ifMatch }) {
        requireTeams(ctx, body.publicTriage?.teams ?? []);
        if (body.guarded) await requireMayGuard(ctx);
        return updated(
          ctx,
          workspaceModel,
          await getEntity(ctx, workspaceModel, ctx.workspaceId),
          body,
          ifMatch,
        );
      },
    }),
  ],
});

/**
 * Apps may not change `guarded`, because it restricts apps.
 * @throws ApiError forbidden
 */
async function requireMayGuard(ctx: Context): Promise<void> {
  if (ctx.authority.actor.kind !== 'app' && isAdmin(await callingMember(ctx))) return;
  throw new ApiError(
    'forbidden',
    'Only an owner or an admin can change guarded actions, and not through an app. Use a session or an API key of one of them.',
  );
}

/** @throws ApiError validation_failed */
function requireTeams({ directory }: Context, keys: readonly string[]): void {
  const known = new Set([...directory.teams.values()].map(({ key }) => key));
  const at = keys.findIndex((key) => !known.has(key));
  if (at >= 0)
    throw invalidField(`publicTriage.teams.${at}`, 'not_found', {
      why: `The workspace has no team ${keys[at]}.`,
      fix: 'Give the key of a team of this workspace.',
    });
}

const readGuarded = workspaceTable.select('guarded', ['guarded_json'], []);

/** Returns the guarded action classes, which are read when a grant is created and on each write of an agent. */
export async function guardedIn(store: Store, scope: Scope): Promise<readonly GuardedClass[]> {
  const row = await readGuarded.one(store, scope, {});
  return row ? (JSON.parse(row.guarded_json) as GuardedClass[]) : [];
}
