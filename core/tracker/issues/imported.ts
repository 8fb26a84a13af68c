// What an import says of an issue although others cannot choose it: when it was made, by whom, and what number it has. They need a scope
// of their own, because they let a key write history under another member's name.
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import type { AlsoNeeded } from '../../http/route.ts';
import { idOrName } from '../../contract/field.ts';
import { member } from '../../identity/members/contract.ts';
import { invalidField } from '../../lib/errors.ts';
import { described } from '../../lib/schema.ts';
import { readTime } from '../../lib/time.ts';
import { authorOf } from '../../resource/author.ts';
import type { IssueInput } from './bodies.ts';
import type { Issue } from './kind.ts';

/** The numbers that come after it still are numbers of an identifier. */
const numberMax = 9_999_999;

export const importedInputs = {
  number: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: numberMax,
      description:
        'The number that it had elsewhere, where no issue of its team has it or had it; needs the scope `import:write`. Absent: the next one.',
    }),
  ),
  createdAt: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'ISO 8601 time at which it was made elsewhere; needs the scope `import:write`.',
    }),
  ),
  creatorId: Type.Optional(
    described(
      idOrName(member),
      'The member who made it elsewhere, by id also one who was removed; needs the scope `import:write`.',
    ),
  ),
};

const givesAny = (entry: object): boolean =>
  'createdAt' in entry || 'creatorId' in entry || 'number' in entry;

/** For each operation whose body takes `importedInputs`, itself or in a list `issues`. */
export const importing: AlsoNeeded = {
  words: 'import:write to give createdAt, creatorId or number',
  scopes: async (_, { body }) => {
    const { issues } = body as { issues?: readonly object[] };
    return (issues?.some(givesAny) ?? givesAny(body as object)) ? ['import:write'] : [];
  },
};

type Times = Pick<Issue, 'createdAt' | 'updatedAt'>;
type Creator = Pick<Issue, 'creatorKind' | 'creatorId' | 'creatorName'>;

/**
 * When an issue was made, and by whom: as the import says, else now and by the caller. It is new here all the same, so that
 * whoever asks for what changed since then is told of it.
 * @param at before its paths in errors
 * @throws ApiError validation_failed
 */
export function madeWhenAndBy(ctx: Context, input: IssueInput, at: string): Times & Creator {
  const now = ctx.nowMs();
  return {
    createdAt: input.createdAt === undefined ? now : pastTime(input.createdAt, now, `${at}createdAt`),
    updatedAt: now,
    ...(input.creatorId === undefined
      ? authorOf(ctx, 'creator')
      : memberOf(ctx, input.creatorId, `${at}creatorId`)),
  };
}

function pastTime(given: string, now: number, path: string): number {
  const time = readTime(given, path);
  if (time > now) throw invalidField(path, 'too_big', 'Give a time that has passed.');
  if (time < 0) throw invalidField(path, 'too_small', 'Give a time from 1970 on.');
  return time;
}

function memberOf({ directory }: Context, id: string, path: string): Creator {
  const found = directory.members.get(id);
  if (!found) throw invalidField(path, 'not_found', { why: `There is no member ${id}.` });
  return { creatorKind: 'user', creatorId: id, creatorName: found.name };
}
