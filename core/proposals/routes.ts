// Proposals as a resource: the plain reads, and the decisions.
import { Type } from 'typebox';
import { schemasOf } from '../contract/schemas.ts';
import type { Context } from '../context.ts';
import type { App } from '../http/app.ts';
import { defineRoute, type AlsoNeeded, type Route } from '../http/route.ts';
import { Closed, idOf, named } from '../lib/schema.ts';
import { getEntity } from '../changes/operations.ts';
import { defineResource } from '../resource/define.ts';
import { readScopeOf } from '../rights/rights.ts';
import type { Condition } from '../store/page.ts';
import { proposal } from './contract.ts';
import { approve, chosenWrites, reject, rerun, type Approval, type Deciding } from './decide.ts';
import { proposalKind, showWhole } from './kind.ts';

const params = Closed({ id: idOf(proposal.id) });
const path = '/api/v1/proposals/{id}';
const shown = schemasOf(proposal).shown;

const ProposalApproval = named(
  'ProposalApproval',
  Closed({
    effects: Type.Optional(
      Type.Array(Type.String({ maxLength: 10 }), {
        minItems: 1,
        maxItems: 1000,
        uniqueItems: true,
        description: 'Ids of the effects that are approved; the others are rejected by it. Left out: all.',
      }),
    ),
    revision: Type.Optional(
      Type.Integer({ minimum: 1, description: 'The revision that you looked at. Left out: the first.' }),
    ),
  }),
);
const ProposalRejection = named(
  'ProposalRejection',
  Closed({
    reason: Type.String({ minLength: 1, maxLength: 1000, pattern: '\\S', description: 'Why, in words.' }),
  }),
);

/** The scopes of what it would do: whoever decides may do it themselves, and whoever looks may read it. */
const scopesOf = (app: () => App, map: (scope: string) => string, words: string): AlsoNeeded => ({
  words,
  async scopes(ctx, { params, body }) {
    const found = await proposalKind.find(ctx, (params as { id: string }).id);
    if (!found) return [];
    const { effects } = (body ?? {}) as Approval;
    const chosen = chosenWrites(found, effects);
    const operations = new Set(
      found.diff.filter(({ write }) => chosen.has(write)).map(({ operation }) => operation),
    );
    const scopes = app()
      .routes.filter(({ name }) => operations.has(name))
      .flatMap(({ scope }) => (scope === null ? [] : [map(scope)]));
    return [...new Set(scopes)];
  },
});

const filters = {
  install: { column: 'install_id', doc: 'Those of one plugin, by the id of its install.' },
  author: { column: 'author_id', doc: 'Those of one author: a member, or the install of a plugin.' },
} as const;
type Asked = Partial<Record<keyof typeof filters | 'issue', string>>;

function conditionsOf(query: Asked): Condition[] {
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

const nameGiven = (description: string) => Type.Optional(Type.String({ maxLength: 60, description }));

export function proposalRoutes(app: () => App, deciding: Deciding): readonly Route[] {
  const writing = scopesOf(app, (scope) => scope, 'the scopes of what is approved');
  const reading = scopesOf(app, readScopeOf, 'the read scopes of what it would change');
  const get = async (ctx: Context, id: string) => showWhole(await getEntity(ctx, proposalKind, id), ctx);
  return defineResource(proposal, proposalKind, {
    query: {
      install: nameGiven(filters.install.doc),
      author: nameGiven(filters.author.doc),
      issue: nameGiven('Those about one issue, by its id.'),
    },
    where: (_ctx, query) => conditionsOf(query as Asked),
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
        responses: { 200: shown },
        read: (ctx, { params: { id } }) => get(ctx, id),
      }),
      ...decisions(writing, deciding),
    ],
  }).routes;
}

function decisions(also: AlsoNeeded, deciding: Deciding): Route[] {
  const facts = { scope: 'approvals:write', limit: 'write', params, responses: { 200: shown } } as const;
  return [
    defineRoute({
      ...facts,
      method: 'POST',
      path: `${path}/approve`,
      name: 'proposals.approve',
      summary: 'Approve a proposal, all of it or a part',
      description:
        'What is approved commits with the decision, all at once, and only where it does exactly what was shown. Where that has moved, it is worked out anew and answered 409: look at the new revision, and approve that. Nobody approves what they proposed.',
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
      summary: 'Work out anew what a proposal would do now',
      also,
      errors: ['conflict'],
      write: (ctx, { params: { id }, ifMatch }) => rerun(ctx, { id, ifMatch }, deciding),
    }),
  ];
}
