import type { Context } from '../../context.ts';
import { scopeOfContract } from '../../contract/contract.ts';
import { defineRoute, type AlsoNeeded, type Route } from '../../http/route.ts';
import { idPrefixes } from '../../lib/ids.ts';
import { Closed, idOf } from '../../lib/schema.ts';
import { invalidField } from '../../lib/errors.ts';
import { readTime } from '../../lib/time.ts';
import { proposal } from '../../proposals/contract.ts';
import { pluginRef } from '../installs/ref.ts';
import { getInstall } from '../installs/installs.ts';
import { UndoRange, UndoShown } from './contract.ts';
import { keptOf, keptOfInstall, type KeptRow } from './kept.ts';
import { contractOf, type UndoKinds } from './kinds.ts';
import { undoAll, undoneAtOnce, undoOne } from './undo.ts';

/** Who undoes writes what was written. */
function writesOf(rows: readonly KeptRow[]): string[] {
  const kinds = new Set(rows.flatMap(({ kinds_json }) => JSON.parse(kinds_json) as string[]));
  return [...kinds].flatMap((kind) => {
    const contract = contractOf(kind);
    return contract ? scopeOfContract(contract, 'write') : [];
  });
}

const words = 'what it takes to write all that is undone';

const ofOne: AlsoNeeded = {
  words,
  scopes: async (ctx, { params }) =>
    writesOf(await keptOf(ctx.store, ctx.scope, [(params as { id: string }).id])),
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

async function rowsIn(ctx: Context, plugin: string, { since, until }: Range): Promise<KeptRow[]> {
  const { id: installId } = await getInstall(ctx, plugin);
  const range = {
    since: readTime(since, 'since'),
    until: until === undefined ? ctx.nowMs() + 1 : readTime(until, 'until'),
  };
  if (range.since >= range.until) throw invalidField('since', 'too_big', 'Give a time before `until`.');
  return keptOfInstall(ctx.store, ctx.scope, { installId, ...range, limit: undoneAtOnce + 1 });
}

const description =
  'In one commit. A field that still has the value that was written gets back the one before; what others changed since stays as it is, and is listed in `skipped`. With `Tatami-Mode: simulate` nothing is written, and the answer says what would be.';

function undoOf(what: string, name: string, prefix: string, summary: string, kinds: UndoKinds): Route {
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
    responses: { 200: UndoShown },
    errors: ['conflict'],
    write: (ctx, { params }) => undoOne(ctx, kinds, params.id),
  });
}

export function undoRoutes(kinds: UndoKinds): Route[] {
  return [
    undoOf('runs', 'runs.undo', idPrefixes.run, 'Undo what a run changed', kinds),
    undoOf('proposals', 'proposals.undo', proposal.id, 'Undo what was approved of a proposal', kinds),
    undoOf('undos', 'undos.undo', idPrefixes.undo, 'Undo an undo', kinds),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/undo',
      name: 'plugins.undo',
      summary: 'Undo what a plugin changed in a time',
      description: `${description} Takes back up to ${undoneAtOnce} runs and approved proposals, the newest first.`,
      scope: 'plugins:write',
      also: ofRange,
      limit: 'write',
      params: Closed({ id: pluginRef }),
      body: UndoRange,
      example: { since: '2026-11-20T12:00:00Z' },
      responses: { 200: UndoShown },
      errors: ['conflict'],
      write: async (ctx, { params, body }) => undoAll(ctx, kinds, await rowsIn(ctx, params.id, body)),
    }),
  ];
}
