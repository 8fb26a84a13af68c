import type { Context } from '../../../kernel/context.ts';
import { scopeOfContract } from '../../../kernel/contract/contract.ts';
import { defineRoute, type AlsoNeeded, type Route } from '../../../kernel/http/route.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Closed, idOf } from '../../../platform/lib/schema.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { readTime } from '../../../platform/lib/time/time.ts';
import { proposal } from '../../proposals/contract.ts';
import { pluginRef } from '../installs/rights.ts';
import { getRunner } from '../installs/installs.ts';
import { UndoRange, UndoResponse } from '../contract.ts';
import { storedChangesOf, storedChangesOfInstall, type StoredChangesRow } from './stored-changes.ts';
import { contractOf, type UndoModels } from './models.ts';
import { undoAll, undoneAtOnce, undoOne } from './undo.ts';

/** Returns the write scopes of the undone entities, because an undo writes to the same objects. */
function writesOf(rows: readonly StoredChangesRow[]): string[] {
  const models = new Set(rows.flatMap(({ entities_json }) => JSON.parse(entities_json) as string[]));
  return [...models].flatMap((kind) => {
    const contract = contractOf(kind);
    return contract ? scopeOfContract(contract, 'write') : [];
  });
}

const words = 'the write scopes of all undone objects';

const ofOne: AlsoNeeded = {
  words,
  scopes: async (ctx, { params }) =>
    writesOf(await storedChangesOf(ctx.store, ctx.scope, [(params as { id: string }).id])),
};

const ofRange: AlsoNeeded = {
  words,
  async scopes(ctx, { params, body }) {
    return writesOf(await rowsIn(ctx, (params as { id: string }).id, body as Range));
  },
};

interface Range {
  readonly since: string;
  readonly until?: string;
}

async function rowsIn(ctx: Context, plugin: string, { since, until }: Range): Promise<StoredChangesRow[]> {
  const { id: installId } = await getRunner(ctx, plugin);
  const range = {
    since: readTime(since, 'since'),
    until: until === undefined ? ctx.nowMs() + 1 : readTime(until, 'until'),
  };
  if (range.since >= range.until) throw invalidField('since', 'too_big', 'Use a time before `until`.');
  return storedChangesOfInstall(ctx.store, ctx.scope, { installId, ...range, limit: undoneAtOnce + 1 });
}

const description =
  'The undo is one commit. A field that still has the written value gets its previous value; fields that others changed since are left unchanged and listed in `skipped`. A person who uses the web app needs a recent sign-in if an undone change needs one. With `Tatami-Mode: simulate` nothing is written, and the response shows what would be reverted.';

function undoOf(what: string, name: string, prefix: string, summary: string, models: UndoModels): Route {
  return defineRoute({
    method: 'POST',
    path: `/api/v1/${what}/{id}/undo`,
    name,
    summary,
    description,
    scope: 'plugins:write',
    also: ofOne,
    limit: 'write',
    params: Closed({ id: idOf(prefix) }),
    responses: { 200: UndoResponse },
    errors: ['conflict', 'recent_sign_in_required'],
    write: (ctx, { params }) => undoOne(ctx, models, params.id),
  });
}

export function undoRoutes(models: UndoModels): Route[] {
  return [
    undoOf('runs', 'runs.undo', idPrefixes.run, 'Undo the changes of a run', models),
    undoOf('proposals', 'proposals.undo', proposal.id, 'Undo the approved changes of a proposal', models),
    undoOf('undos', 'undos.undo', idPrefixes.undo, 'Undo an undo', models),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/undo',
      name: 'plugins.undo',
      summary: 'Undo the changes of a plugin in a time range',
      description: `${description} The request undoes up to ${undoneAtOnce} runs and approved proposals, newest first.`,
      scope: 'plugins:write',
      also: ofRange,
      limit: 'write',
      params: Closed({ id: pluginRef }),
      body: UndoRange,
      example: { since: '2026-11-20T12:00:00Z' },
      responses: { 200: UndoResponse },
      errors: ['conflict', 'recent_sign_in_required'],
      write: async (ctx, { params, body }) => undoAll(ctx, models, await rowsIn(ctx, params.id, body)),
    }),
  ];
}
