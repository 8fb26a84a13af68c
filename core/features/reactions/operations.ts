// Reactions to comments and issues. An author has at most one reaction per emoji, even with repeated or
// concurrent requests. A removed reaction stays stored; reacting again creates a new one.
import { plain, created, getEntity, removed, requireVersion } from '../../kernel/changes/operations.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { issueOfPart, partOfIssue, issueModel, linkToIssue } from '../issues/index.ts';
import { reaction, emojiBytesMax } from './contract.ts';
import { Type } from 'typebox';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { ApiError, invalidField, notFound } from '../../platform/lib/errors/errors.ts';
import { derivedId } from '../../platform/lib/ids.ts';
import { Closed, idOf, namedSchema, nameOf, nullable } from '../../platform/lib/schema.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { comment } from '../comments/contract.ts';
import { commentIdsIn, commentIdsQuery, findComment } from '../comments/index.ts';
import { issue } from '../issues/contract.ts';

/** Maximum number of different emoji on one comment or issue. */
const emojiMax = 50;

const part = partOfIssue('reactions');

const reactionModel = modelOf(reaction, {
  stored: { ...part.stored, subjectId: plain<string>('subject_id') },
  shows: {
    issue: issueOfPart,
    commentId: ({ issueId, subjectId }) => (subjectId === issueId ? null : subjectId),
  },
  ...part.options,
  related: (scope, before, { issueId, subjectId }) => ({
    last: before
      ? []
      : [tenantOp(scope, requireCapacity, { issueId, subjectId, max: emojiMax }, { expectRows: 1 })],
  }),
});

/** Fails the batch if the comment or issue was deleted in the meantime, or has too many different emoji. */
const requireCapacity = tenantStatement(
  'reactions.have_capacity',
  `UPDATE issues SET updated_at = updated_at WHERE workspace_id = :ws AND id = :issueId AND deleted_at IS NULL
     AND (:subjectId = :issueId OR EXISTS
       (SELECT 1 FROM comments AS c WHERE c.workspace_id = :ws AND c.id = :subjectId AND c.deleted_at IS NULL))
     AND (SELECT count(DISTINCT r.emoji) FROM reactions AS r
          WHERE r.workspace_id = :ws AND r.subject_id = :subjectId AND r.deleted_at IS NULL) <= :max`,
);

/** Maximum number of authors listed per emoji; the count includes all. */
const whoMax = 50;

const groupsOf = (who: number) =>
  Type.Array(
    Closed({
      emoji: Type.String({ description: 'Emoji of the group.' }),
      count: Type.Integer({ description: 'Number of reactions with the emoji.' }),
      mine: nullable(idOf(reaction.id, "Id of the caller's reaction; null if there is none.")),
      who: Type.Array(reaction.fields.actor.response, {
        description: `Authors of the reactions, earliest first; up to ${who}.`,
      }),
    }),
    { description: 'Reactions grouped by emoji, in the order of the first reaction of each group.' },
  );

const ReactionGroups = namedSchema('ReactionGroups', Closed({ data: groupsOf(whoMax) }));

/** Maximum number of authors per emoji in a list of many comments, which bounds its size. */
const whoOfManyMax = 10;

const ReactionsByComment = namedSchema(
  'ReactionsByComment',
  Closed({
    data: Type.Array(
      Closed({
        commentId: idOf(comment.id, 'Id of the comment.'),
        reactions: groupsOf(whoOfManyMax),
      }),
      { description: 'Comments with reactions, in the order of their ids in the request.' },
    ),
  }),
);

interface Grouped {
  emoji: string;
  count: number;
  mine: string | null;
  who_json: string;
}
const grouped = tenantStatement<Grouped>(
  'reactions.grouped',
  `SELECT emoji, count(*) AS count, max(CASE WHEN actor_id = :actorId THEN id END) AS mine,
     json_group_array(json_object('kind', actor_kind, 'id', actor_id, 'name', actor_name) ORDER BY created_at, id)
       FILTER (WHERE place <= :whoMax) AS who_json
   FROM (SELECT *, row_number() OVER (PARTITION BY emoji ORDER BY created_at, id) AS place FROM reactions
         WHERE workspace_id = :ws AND subject_id = :subjectId AND deleted_at IS NULL)
   GROUP BY emoji ORDER BY min(created_at), min(id)`,
);
/** The condition on the issue is part of the rights: ids of comments on other issues match nothing. */
const groupedByComment = tenantStatement<Grouped & { subject_id: string }>(
  'reactions.grouped_by_comment',
  `SELECT subject_id, emoji, count(*) AS count, max(CASE WHEN actor_id = :actorId THEN id END) AS mine,
     json_group_array(json_object('kind', actor_kind, 'id', actor_id, 'name', actor_name) ORDER BY created_at, id)
       FILTER (WHERE place <= :whoMax) AS who_json
   FROM (SELECT r.*, row_number() OVER (PARTITION BY r.subject_id, r.emoji ORDER BY r.created_at, r.id) AS place
         FROM json_each(:ids) AS chosen
         CROSS JOIN comments AS c ON c.workspace_id = :ws AND c.id = chosen.value AND c.issue_id = :issueId
           AND c.deleted_at IS NULL
         CROSS JOIN reactions AS r INDEXED BY reactions_one
           ON r.workspace_id = :ws AND r.subject_id = c.id AND r.deleted_at IS NULL)
   GROUP BY subject_id, emoji ORDER BY min(created_at), min(id)`,
);
const takenBack = tenantStatement<{ count: number }>(
  'reactions.taken_back',
  `SELECT count(*) AS count FROM reactions INDEXED BY reactions_issue
   WHERE workspace_id = :ws AND issue_id = :issueId AND subject_id = :subjectId AND emoji = :emoji AND actor_id = :actorId
     AND deleted_at IS NOT NULL`,
);

/** Comment or issue that is reacted to, with its issue. */
interface Subject {
  readonly id: string;
  readonly issueId: string;
  readonly issuePlace: string;
}

async function issueSubject(ctx: Context, id: string): Promise<Subject> {
  const current = await getEntity(ctx, issueModel, id);
  return { id: current.id, ...linkToIssue(current) };
}

async function commentSubject(ctx: Context, id: string): Promise<Subject> {
  const { issueId, issuePlace } = await findComment(ctx, id);
  return { id, issueId, issuePlace };
}

async function listReactions(ctx: Context, subject: Subject) {
  const params = { subjectId: subject.id, actorId: actorIdOf(ctx), whoMax };
  const groups = await ctx.store.read(ctx.scope, grouped, params);
  return { data: groups.map(groupIn) };
}

const groupIn = ({ emoji, count, mine, who_json }: Grouped) => ({
  emoji,
  count,
  mine,
  who: JSON.parse(who_json) as unknown,
});

/** Lists the reactions of many comments of an issue. Deleted comments and those of other issues are left out. */
async function listByComment(ctx: Context, issueId: string, ids: readonly string[]) {
  const params = { issueId, ids: JSON.stringify(ids), actorId: actorIdOf(ctx), whoMax: whoOfManyMax };
  const groups = await ctx.store.read(ctx.scope, groupedByComment, params);
  const bySubject = Map.groupBy(groups, ({ subject_id }) => subject_id);
  const data = ids.flatMap((commentId) => {
    const own = bySubject.get(commentId);
    return own ? [{ commentId, reactions: own.map(groupIn) }] : [];
  });
  return { data };
}

const byComment = defineRoute({
  method: 'GET',
  path: `/api/v1/${issue.path}/{id}/${comment.path}/reactions`,
  name: 'reactions.list-by-comment',
  summary: 'List the reactions to comments of an issue, by comment',
  description:
    'Leaves out comments without reactions, deleted comments and comments on other issues. Reactions to the issue itself are another list.',
  scope: 'comments:read',
  rows: 'team',
  limit: 'read',
  params: Closed({ id: nameOf(issue) }),
  query: Closed({ ids: commentIdsQuery }),
  responses: { 200: ReactionsByComment },
  async read(ctx, { params, query }) {
    const { id } = await issueSubject(ctx, params.id);
    return listByComment(ctx, id, commentIdsIn(query.ids));
  },
});

const actorIdOf = ({ actor }: Context): string => actor.memberId ?? actor.id;

/** A reaction is a Unicode emoji, or the name of a common one. */
const emojiByName: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '+1': '👍',
    thumbsup: '👍',
    '-1': '👎',
    thumbsdown: '👎',
    heart: '❤️',
    laughing: '😆',
    smile: '😄',
    tada: '🎉',
    rocket: '🚀',
    eyes: '👀',
    confused: '😕',
    fire: '🔥',
    pray: '🙏',
    clap: '👏',
    white_check_mark: '✅',
  }),
);

// All emoji that are recommended for general interchange, sequences included (UTS #51).
const oneEmoji = new RegExp('^\\p{RGI_Emoji}$', 'v');
const asEmoji = '\u{FE0F}';

/**
 * Returns one canonical form for every spelling: name, and with or without the emoji variation selector.
 * @throws ApiError validation_failed
 */
function emojiOf(input: string): string {
  const known = emojiByName.get(input.replace(/^:(.+):$/, '$1'));
  if (known !== undefined) return known;
  const forms = [input, `${input}${asEmoji}`];
  const emoji = forms.find((form) => oneEmoji.test(form) && Buffer.byteLength(form) <= emojiBytesMax);
  if (emoji !== undefined) return emoji;
  throw invalidField('emoji', 'invalid_format', {
    why: 'This is not a single emoji.',
    fix: `Give an emoji such as 👍, or a name: ${[...emojiByName.keys()].join(', ')}.`,
  });
}

async function addReaction(ctx: Context, subject: Subject, input: string): Promise<ChangeSet> {
  const emoji = emojiOf(input);
  const { id: subjectId, issueId, issuePlace } = subject;
  const sought = { issueId, subjectId, emoji, actorId: actorIdOf(ctx) };
  // The id is derived from the content, so that a run which reacts twice finds its staged reaction.
  const { count = 0 } = (await ctx.store.readOne(ctx.scope, takenBack, sought)) ?? {};
  for (let nth = count; ; nth++) {
    const id = derivedId(reaction.id, subjectId, `${sought.actorId} ${emoji} ${nth}`);
    const current = await reactionModel.find(ctx, id);
    if (current?.deletedAt === null)
      return { changes: [], body: reactionModel.toResponse(current, ctx), status: 200 };
    if (current) continue;
    await requireEmojiCapacity(ctx, subjectId, emoji);
    const now = ctx.nowMs();
    const times = { createdAt: now, updatedAt: now, deletedAt: null };
    const entity = { id, issueId, issuePlace, subjectId, emoji, ...authorOf(ctx, 'actor'), ...times };
    return created(ctx, reactionModel, entity, reaction.path);
  }
}

/** @throws ApiError conflict */
async function requireEmojiCapacity(ctx: Context, subjectId: string, emoji: string): Promise<void> {
  const groups = await ctx.store.read(ctx.scope, grouped, { subjectId, actorId: '', whoMax: 0 });
  if (groups.length >= emojiMax && !groups.some((group) => group.emoji === emoji))
    throw invalidField('emoji', 'too_big', {
      why: `The issue or comment already has ${emojiMax} different emoji.`,
      fix: 'Use one of the existing emoji.',
    });
}

/**
 * Returns the two routes of a comment or an issue.
 * @param on suffix of the route names: `-on-issue`
 */
function routesOf(
  of: {
    readonly path: string;
    readonly name: string;
    readonly id: string;
    readonly alias?: typeof issue.alias;
  },
  on: string,
  find: (ctx: Context, id: string) => Promise<Subject>,
) {
  const both = {
    path: `/api/v1/${of.path}/{id}/reactions`,
    params: Closed({ id: nameOf(of) }),
    rows: 'team',
  } as const;
  const thing = of.name === 'issue' ? 'an issue' : `a ${of.name}`;
  return [
    defineRoute({
      ...both,
      method: 'GET',
      name: `reactions.list${on}`,
      summary: `List the reactions to ${thing}, grouped by emoji`,
      scope: 'comments:read',
      limit: 'read',
      responses: { 200: ReactionGroups },
      read: async (ctx, { params }) => listReactions(ctx, await find(ctx, params.id)),
    }),
    defineRoute({
      ...both,
      method: 'POST',
      name: `reactions.create${on}`,
      summary: `React to ${thing} with an emoji`,
      description: 'If the caller already reacted with the emoji, returns that reaction (200).',
      scope: 'comments:write',
      limit: 'write',
      body: schemasOf(reaction).create,
      example: { emoji: '👍' },
      responses: { 201: schemasOf(reaction).response, 200: schemasOf(reaction).response },
      write: async (ctx, { params, body }) => addReaction(ctx, await find(ctx, params.id), body.emoji),
    }),
  ];
}

export const resource = defineResource(reaction, reactionModel, {
  admits: (ctx, { issueId }) => getEntity(ctx, issueModel, issueId),
  operations: {
    async delete(ctx, id, ifMatch) {
      const current = await reactionModel.find(ctx, id);
      if (!current) throw notFound();
      await getEntity(ctx, issueModel, current.issueId);
      if (current.actorId !== actorIdOf(ctx))
        throw new ApiError('forbidden', 'Only the author of a reaction can remove it. Ask the author.');
      requireVersion(current, ifMatch);
      return current.deletedAt === null
        ? removed(ctx, reactionModel, current, ifMatch)
        : { changes: [], body: undefined };
    },
  },
  routes: [
    ...routesOf(comment, '', commentSubject),
    ...routesOf(issue, '-on-issue', issueSubject),
    byComment,
  ],
});
