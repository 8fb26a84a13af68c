// What is wrong with the server itself, as the people of a workspace are told: what it means for them, and nothing of the machine or of
// other workspaces. Only what concerns them is told; the rest is for whoever runs the server.
import { Type, type Static } from 'typebox';
import { announce } from '../changes/announcement.ts';
import type { Change } from '../changes/change.ts';
import { isoTime } from '../changes/operations.ts';
import type { ProblemKind } from '../lib/problems.ts';
import { Closed, described, enumeration, named, nullable, time } from '../lib/schema.ts';
import { itemsForAdmins } from './items.ts';

const texts = {
  damage: {
    title: 'Some data of this server is damaged',
    message: 'Some of what is stored cannot be read. Whoever runs the server has to look after it.',
  },
  read_only: {
    title: 'This server takes no changes',
    message: 'What is stored can be read; changes are refused until whoever runs the server has mended it.',
  },
  key: {
    title: 'Secrets cannot be opened',
    message:
      'The server runs without its master key: webhooks are not signed or sent, and secrets cannot be read.',
  },
  plugins: {
    title: 'Plugins do not run',
    message: 'The sandbox of plugins does not work. Their events wait, and are run once it does.',
  },
  backup: {
    title: 'There is no fresh backup',
    message: 'The last backup of this server failed or is too old. Whoever runs it has to look after it.',
  },
  held: {
    title: 'Webhooks and schedules wait',
    message:
      'This server was restored from a backup. Webhooks and schedules wait until whoever runs it lets them go on.',
  },
} as const satisfies Partial<Record<ProblemKind, { title: string; message: string }>>;

export type ToldKind = keyof typeof texts;
export const toldKinds = Object.keys(texts) as readonly ToldKind[];

export const SystemProblemShown = named(
  'SystemProblem',
  Closed({
    kind: enumeration('SystemProblemKind', toldKinds, 'What is wrong.'),
    message: Type.String({ description: 'What it means for the workspace.' }),
    since: described(time, 'When it began.'),
    until: nullable(Type.String({ format: 'date-time', description: 'Null while there is the problem.' })),
  }),
);

export interface ToldProblem {
  readonly kind: ToldKind;
  readonly sinceMs: number;
  /** Null while there is the problem. */
  readonly untilMs: number | null;
}

/** The changes that tell a workspace that a problem has come or gone. */
export function problemChanges(
  { kind, sinceMs, untilMs }: ToldProblem,
  at: Parameters<typeof itemsForAdmins>[1],
): Change[] {
  const { title, message } = texts[kind];
  const target = { kind: 'system', id: kind };
  const shown: Static<typeof SystemProblemShown> = {
    kind,
    message,
    since: isoTime(sinceMs),
    until: isoTime(untilMs),
  };
  if (untilMs !== null) return [announce(target, 'system.problem_cleared', shown)];
  return [
    announce(target, 'system.problem_raised', shown),
    ...itemsForAdmins({ kind: 'system_problem', reason: 'system', title, body: message, target }, at),
  ];
}
