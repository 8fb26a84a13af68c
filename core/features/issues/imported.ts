// Fields that only imports can set: number, creation time, creator and state times. They require a separate
// scope, because they allow a key to write in the name of another member.
import { Type } from 'typebox';
import { isoTime } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import type { AlsoNeeded } from '../../kernel/http/route.ts';
import { idOrName } from '../../kernel/contract/field.ts';
import { member } from '../people/contract.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { described } from '../../platform/lib/schema.ts';
import { readTime } from '../../platform/lib/time/time.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import type { IssueInput } from './bodies.ts';
import type { StateType } from '../workflows/contract.ts';
import type { StateTimes } from './query/in-state.ts';
import type { Issue } from './model.ts';

/** Later numbers must still fit into an identifier. */
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
      description: `Time, ISO 8601, allowed in states of type ${typesWith[name].join(', ')}; needs the scope \`import:write\`. Default: null if \`createdAt\` is given, otherwise as for other issues.`,
    }),
  );

export const importedInputs = {
  number: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: numberMax,
      description:
        'Number of the issue in the other system, if its team never used it; needs the scope `import:write`. Default: the next number.',
    }),
  ),
  createdAt: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Time of creation in the other system, ISO 8601; needs the scope `import:write`.',
    }),
  ),
  creatorId: Type.Optional(
    described(
      idOrName(member),
      'Creator of the issue in the other system; a removed member must be given by id. Requires the scope `import:write`.',
    ),
  ),
  startedAt: timeInput('startedAt'),
  completedAt: timeInput('completedAt'),
  canceledAt: timeInput('canceledAt'),
};

const givesAny = (entry: object): boolean => Object.keys(importedInputs).some((name) => name in entry);

/** Extra scope of operations whose body takes `importedInputs`, directly or in a list `issues`. */
export const importing: AlsoNeeded = {
  words: '`import:write` to set number, createdAt, creatorId, startedAt, completedAt or canceledAt',
  scopes: async (_, { body }) => {
    const { issues } = body as { issues?: readonly object[] };
    return (issues?.some(givesAny) ?? givesAny(body as object)) ? ['import:write'] : [];
  },
};

type Times = Pick<Issue, 'createdAt' | 'updatedAt'>;
type Creator = Pick<Issue, 'creatorKind' | 'creatorId' | 'creatorName'>;

/**
 * Returns creation time and creator of a new issue: as given by an import, else now and the caller.
 * `updatedAt` is always now, so that readers of recent changes find imported issues.
 * @param at prefix of the paths in errors
 * @throws ApiError validation_failed
 */
export function importedCreation(ctx: Context, input: IssueInput, at: string): Times & Creator {
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
 * Returns the state times of a new issue, as given by an import. An imported issue did not enter its state
 * now, so an omitted time is unknown.
 * @throws ApiError validation_failed
 */
export function importedTimes(
  { directory, nowMs }: Context,
  input: Pick<IssueInput, 'createdAt' | keyof StateTimes>,
  created: Pick<Issue, 'stateId' | 'createdAt' | keyof StateTimes>,
  at: string,
): StateTimes {
  const type = directory.states.get(created.stateId)?.type;
  const timeOf = (name: keyof StateTimes): number | null => {
    const requested = input[name];
    if (requested === undefined) return input.createdAt === undefined ? created[name] : null;
    if (!typesWith[name].some((one) => one === type))
      throw invalidField(`${at}${name}`, 'conflict', {
        why: `The state of the issue is of type ${type}.`,
        fix: `Leave the time out, or give a state of type ${typesWith[name].join(', ')}.`,
      });
    return pastTime(requested, nowMs(), `${at}${name}`);
  };
  const times = {
    startedAt: timeOf('startedAt'),
    completedAt: timeOf('completedAt'),
    canceledAt: timeOf('canceledAt'),
  };
  // Without `createdAt` the creation time is now, which may be later than the given state times.
  const createdAt = input.createdAt === undefined ? null : created.createdAt;
  requireInOrder([['createdAt', createdAt], ...Object.entries(times)], at);
  return times;
}

/**
 * @param times in the order in which they happen
 * @throws ApiError validation_failed
 */
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

function pastTime(requested: string, now: number, path: string): number {
  const time = readTime(requested, path);
  if (time > now) throw invalidField(path, 'too_big', 'Give a time in the past.');
  if (time < 0) throw invalidField(path, 'too_small', 'Give a time in 1970 or later.');
  return time;
}

function memberOf({ directory }: Context, id: string, path: string): Creator {
  const entry = directory.members.get(id);
  if (!entry)
    throw invalidField(path, 'not_found', {
      why: `There is no member ${id}.`,
      fix: 'Use the id of a member.',
    });
  return { creatorKind: 'user', creatorId: id, creatorName: entry.name };
}
