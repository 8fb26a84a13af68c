// What an import says of an issue although others cannot choose it: when it was made, by whom, and what number it has. They need a scope
// of their own, because they let a key write history under another member's name.
import { Type } from 'typebox';
import { isoTime } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import type { AlsoNeeded } from '../../http/route.ts';
import { idOrName } from '../../contract/field.ts';
import { member } from '../../identity/members/contract.ts';
import { invalidField } from '../../lib/errors.ts';
import { described } from '../../lib/schema.ts';
import { readTime } from '../../lib/time.ts';
import { authorOf } from '../../resource/author.ts';
import type { IssueInput } from './bodies.ts';
import type { StateType } from '../workflows/contract.ts';
import type { StateTimes } from './in-state.ts';
import type { Issue } from './kind.ts';

/** The numbers that come after it still are numbers of an identifier. */
const numberMax = 9_999_999;

/** State types in which an issue can have each of its times. */
const typesWith = {
  startedAt: ['started', 'completed', 'canceled', 'duplicate'],
  completedAt: ['completed'],
  canceledAt: ['canceled', 'duplicate'],
} as const satisfies Record<keyof StateTimes, readonly StateType[]>;

const timeInput = (name: keyof StateTimes) =>
  Type.Optional(
    Type.String({
      maxLength: 40,
      description: `ISO 8601 time, for a state of type ${typesWith[name].join(', ')}; needs the scope \`import:write\`. Absent: null where \`createdAt\` is given, else as for any other issue.`,
    }),
  );

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
  startedAt: timeInput('startedAt'),
  completedAt: timeInput('completedAt'),
  canceledAt: timeInput('canceledAt'),
};

const givesAny = (entry: object): boolean => Object.keys(importedInputs).some((name) => name in entry);

/** For each operation whose body takes `importedInputs`, itself or in a list `issues`. */
export const importing: AlsoNeeded = {
  words: 'import:write to give number, createdAt, creatorId, startedAt, completedAt or canceledAt',
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

/**
 * Times of its state: as the import gives them. An issue that was created elsewhere did not enter its state now, so a time that the import
 * leaves out is unknown.
 * @throws ApiError validation_failed
 */
export function givenTimes(
  { directory, nowMs }: Context,
  input: Pick<IssueInput, 'createdAt' | keyof StateTimes>,
  made: Pick<Issue, 'stateId' | 'createdAt' | keyof StateTimes>,
  at: string,
): StateTimes {
  const type = directory.states.get(made.stateId)?.type;
  const timeOf = (name: keyof StateTimes): number | null => {
    const given = input[name];
    if (given === undefined) return input.createdAt === undefined ? made[name] : null;
    if (!typesWith[name].some((one) => one === type))
      throw invalidField(`${at}${name}`, 'conflict', {
        why: `The state of the issue has the type ${type}.`,
        fix: `Leave it out, or give a state of type ${typesWith[name].join(', ')}.`,
      });
    return pastTime(given, nowMs(), `${at}${name}`);
  };
  const times = {
    startedAt: timeOf('startedAt'),
    completedAt: timeOf('completedAt'),
    canceledAt: timeOf('canceledAt'),
  };
  // Without `createdAt` the issue is created now, whenever its work was done elsewhere.
  const createdAt = input.createdAt === undefined ? null : made.createdAt;
  requireInOrder([['createdAt', createdAt], ...Object.entries(times)], at);
  return times;
}

/** @param times in the order in which they happen. @throws ApiError validation_failed */
function requireInOrder(times: readonly (readonly [name: string, time: number | null])[], at: string): void {
  const known = times.flatMap(([name, time]) => (time === null ? [] : [{ name, time }]));
  for (const [index, { name, time }] of known.entries()) {
    const before = known[index - 1];
    if (before && time < before.time)
      throw invalidField(`${at}${name}`, 'too_small', {
        why: `The time is before \`${before.name}\`.`,
        fix: `Give ${isoTime(before.time)} or later, or correct \`${before.name}\`.`,
      });
  }
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
