import { Type } from 'typebox';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import type { Context } from '../../kernel/context.ts';
import type { App } from '../../kernel/http/app.ts';
import { defineRoute, type AlsoNeeded, type Route } from '../../kernel/http/route.ts';
import { Closed, idOf, namedSchema } from '../../platform/lib/schema.ts';
import { getEntity } from '../../kernel/changes/operations.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { readScopeOf } from '../../kernel/rights/rights.ts';
import type { Condition } from '../../platform/store/page.ts';
import { proposal } from './contract.ts';
import { approve, chosenWrites, reject, rerun, type Approval, type Deciding } from './decide.ts';
import { proposalModel, showWhole } from './model.ts';

const params = Closed({ id: idOf(proposal.id) });
const path = '/api/v1/proposals/{id}';
const responseSchema = schemasOf(proposal).response;

const ProposalApproval = namedSchema(
  'ProposalApproval',
  Closed({
    effects: Type.Optional(
      Type.Array(Type.String({ maxLength: 10 }), {
        minItems: 1,
        maxItems: 1000,
        uniqueItems: true,
        description: 'Ids of the approved effects; the others are rejected. Default: all.',
      }),
    ),
    revision: Type.Optional(Type.Integer({ minimum: 1, description: 'Reviewed revision; default 1.' })),
  }),
);
const ProposalRejection = namedSchema(
  'ProposalRejection',
  Closed({
    reason: Type.String({
      minLength: 1,
      maxLength: 1000,
      pattern: '\\S',
      description: 'Reason for the rejection.',
    }),
  }),
);

/**
 * Returns the scopes of the proposed operations: a decision requires permission for the changes, and a read
 * requires permission to read the objects.
 */
const scopesOf = (app: () => App, map: (scope: string) => string, words: string): AlsoNeeded => ({
  words,
  async scopes(ctx, { params, body }) {
    const current = await proposalModel.find(ctx, (params as { id: string }).id);
    if (!current) return [];
    const { effects } = (body ?? {}) as Approval;
    const chosen = chosenWrites(current, effects);
    const operations = new Set(
      current.diff.filter(({ write }) => chosen.has(write)).map(({ operation }) => operation),
    );
    const scopes = app()
      .routes.filter(({ name }) => operations.has(name))
      .flatMap(({ scope }) => (scope === null ? [] : [map(scope)]));
    return [...new Set(scopes)];
  },
});

const filters = {
  install: { column: 'install_id', doc: 'Only proposals of this plugin install (id).' },
  author: { column: 'author_id', doc: 'Only proposals of this author (id of a member or plugin install).' },
} as const;
type ProposalFilters = Partial<Record<keyof typeof filters | 'issue', string>>;

function conditionsOf(query: ProposalFilters): Condition[] {
  const plain = (Object.keys(filters) as (keyof typeof filters)[]).flatMap((name) =>
    query[name] === undefined
      ? []
      : [{ sql: `${filters[name].column} = :${name}`, params: { [name]: query[name] } }],
  );
  if (query.issue === undefined) return plain;
  return [
    ...plain,
    {
      sql: 'instr(issue_ids_json, :issue) > 0',
      params: { issue: JSON.stringify(query.issue) },
    },
  ];
}

const nameQuery = (description: string) => Type.Optional(Type.String({ maxLength: 60, description }));

export function proposalRoutes(app: () => App, deciding: Deciding): readonly Route[] {
  const writing = scopesOf(app, (scope) => scope, 'the scopes of the approved operations');
  const reading = scopesOf(app, readScopeOf, 'the read scopes of the proposed changes');
  const get = async (ctx: Context, id: string) => showWhole(await getEntity(ctx, proposalModel, id), ctx);
  return defineResource(proposal, proposalModel, {
    query: {
      install: nameQuery(filters.install.doc),
      author: nameQuery(filters.author.doc),
      issue: nameQuery('Only proposals that concern this issue (id).'),
    },
    where: (_ctx, query) => conditionsOf(query as ProposalFilters),
    operations: { get },
    routes: [
      defineRoute({
        method: 'GET',
        path,
        name: 'proposals.get',
        summary: proposal.operations.get,
        scope: 'proposals:read',
        also: reading,
        limit: 'read',
        params,
        responses: { 200: responseSchema },
        read: (ctx, { params: { id } }) => get(ctx, id),
      }),
      ...decisions(writing, deciding),
    ],
  }).routes;
}

function decisions(also: AlsoNeeded, deciding: Deciding): Route[] {
  const facts = {
    scope: 'approvals:write',
    limit: 'write',
    params,
    responses: { 200: responseSchema },
  } as const;
  return [
    defineRoute({
      ...facts,
      method: 'POST',
      path: `${path}/approve`,
      name: 'proposals.approve',
      summary: 'Approve a proposal in full or in part',
      description:
        'The approved effects are committed atomically with the decision, and only if they do exactly what the proposal shows. If the data has changed, the effects are recalculated and the request fails with 409: review the new revision and approve it. Proposers cannot approve their own proposals.',
      also,
      body: ProposalApproval,
      example: { revision: 1 },
      errors: ['forbidden', 'conflict'],
      write: (ctx, { params: { id }, body, ifMatch }) => approve(ctx, { id, ifMatch }, body, deciding),
    }),
    defineRoute({
      ...facts,
      method: 'POST',
      path: `${path}/reject`,
      name: 'proposals.reject',
      summary: 'Reject a proposal',
      body: ProposalRejection,
      example: { reason: 'The label is for outages.' },
      errors: ['conflict'],
      write: (ctx, { params: { id }, body, ifMatch }) => reject(ctx, { id, ifMatch }, body.reason),
    }),
    defineRoute({
      ...facts,
      method: 'POST',
      path: `${path}/rerun`,
      name: 'proposals.rerun',
      summary: 'Recalculate a proposal against the current data',
      also,
      errors: ['conflict'],
      write: (ctx, { params: { id }, ifMatch }) => rerun(ctx, { id, ifMatch }, deciding),
    }),
  ];
}
