// Edit history of a comment, read from the event log of its issue.
import { Type } from 'typebox';
import type { PageParameters } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import type { EventEnvelope } from '../../events/event.ts';
import { listEventsOf } from '../../events/feed.ts';
import { Closed, described, idOf, namedSchema, time } from '../../lib/schema.ts';
import { idPrefixes } from '../../lib/ids.ts';
import { authorOf } from '../../resource/author.ts';
import { comment } from './contract.ts';
import type { Comment } from './kind.ts';

export const CommentEdit = namedSchema(
  'CommentEdit',
  Closed({
    eventId: idOf(idPrefixes.event, 'Id of the event of the change.'),
    editedAt: described(time, 'Time of the change.'),
    editor: { ...comment.fields.author.response, description: 'Author of the change.' },
    body: Type.String({ description: 'Text before the change.' }),
  }),
);

/** Lists the oldest edits first. @throws ApiError invalid_cursor */
export async function commentEdits(ctx: Context, { id, issueId, createdAt }: Comment, query: PageParameters) {
  const { data, pageInfo } = await listEventsOf(ctx, issueId, query, {
    name: id,
    sinceMs: createdAt,
    matches: ({ type, entityId }) => type === 'comment.updated' && entityId === id,
  });
  return { data: data.flatMap((event) => editIn(ctx, event)), pageInfo };
}

function editIn({ directory }: Context, { id, created_at, actor, data }: EventEnvelope) {
  const { body } = data.previous as { body?: string };
  if (body === undefined) return [];
  const { editorKind, editorId, editorName } = authorOf({ actor, directory }, 'editor');
  const editor = { kind: editorKind, id: editorId, name: editorName };
  return [{ eventId: id, editedAt: created_at, editor, body }];
}
