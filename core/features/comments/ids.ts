// Parameter `ids`: comments of one issue, chosen by their ids.
import { Type } from 'typebox';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { inputForm } from '../../platform/lib/schema.ts';
import { comment } from './contract.ts';

/** Maximum number of ids in one request, as many as a page has comments. */
const idsMax = 100;

export const commentIdsQuery = Type.String({
  maxLength: 4_000,
  description: `Ids of the comments, comma-separated; up to ${idsMax}.`,
  [inputForm]: 'list',
});

/** @throws ApiError validation_failed */
export function commentIdsIn(input: string): readonly string[] {
  const ids = [...new Set(input.split(','))];
  const wrong = ids.find((id) => !id.startsWith(`${comment.id}_`));
  if (wrong !== undefined)
    throw invalidField('ids', 'invalid_format', {
      why: `${JSON.stringify(wrong)} is not the id of a comment.`,
      fix: `Give ids with the prefix ${comment.id}_, separated by commas.`,
    });
  if (ids.length > idsMax)
    throw invalidField('ids', 'too_big', {
      why: `There are ${ids.length} ids.`,
      fix: `Give at most ${idsMax} ids in one request.`,
    });
  return ids;
}
