// Notifies workspaces of server problems. The texts describe the effect on the workspace, and reveal nothing
// about the machine or other workspaces. Problems that do not affect workspaces are reported only to the
// operator.
import { Type, type Static } from 'typebox';
import { announce, type Change } from '../../kernel/changes/change.ts';
import { isoTime } from '../../kernel/changes/operations.ts';
import type { ProblemKind } from '../../platform/lib/errors/failures.ts';
import { Closed, described, enumeration, namedSchema, nullable, time } from '../../platform/lib/schema.ts';
import { itemsForAdmins } from './items.ts';

const texts = {
  damage: {
    title: 'Some data of this server is damaged',
    message: 'Some stored data cannot be read. The server administrator must repair it.',
  },
  read_only: {
    title: 'This server is read-only',
    message:
      'Stored data can be read, but changes are refused until the server administrator has fixed the cause.',
  },
  key: {
    title: 'Secrets cannot be decrypted',
    message:
      'The server runs without its master key: webhooks are not signed or sent, and secrets cannot be read. The server administrator must restore the key.',
  },
  plugins: {
    title: 'Plugins are not running',
    message:
      'The plugin sandbox does not work, and the server administrator must repair it. Events for plugins are queued and run once it works again.',
  },
  backup: {
    title: 'No recent backup',
    message: 'The last backup of this server failed or is too old. The server administrator must check it.',
  },
  held: {
    title: 'Webhooks and schedules are paused',
    message:
      'This server was restored from a backup. Webhooks and schedules stay paused until the server administrator resumes them.',
  },
} as const satisfies Partial<Record<ProblemKind, { title: string; message: string }>>;

export type ReportedKind = keyof typeof texts;
export const reportedKinds = Object.keys(texts) as readonly ReportedKind[];

export const SystemProblemResponse = namedSchema(
  'SystemProblem',
  Closed({
    kind: enumeration('SystemProblemKind', reportedKinds, 'Type of the problem.'),
    message: Type.String({ description: 'Effect of the problem on the workspace.' }),
    since: described(time, 'Time at which the problem began.'),
    until: nullable(
      Type.String({
        format: 'date-time',
        description: 'Time at which the problem ended; null while it lasts.',
      }),
    ),
  }),
);

export interface ReportedProblem {
  readonly kind: ReportedKind;
  readonly sinceMs: number;
  /** End of the problem, ms since the epoch; null while it lasts. */
  readonly untilMs: number | null;
}

/** Returns the changes that publish the start or the end of a problem to a workspace. */
export function problemChanges(
  { kind, sinceMs, untilMs }: ReportedProblem,
  at: Parameters<typeof itemsForAdmins>[1],
): Change[] {
  const { title, message } = texts[kind];
  const target = { kind: 'system', id: kind };
  const response: Static<typeof SystemProblemResponse> = {
    kind,
    message,
    since: isoTime(sinceMs),
    until: isoTime(untilMs),
  };
  if (untilMs !== null) return [announce(target, 'system.problem_cleared', response)];
  return [
    announce(target, 'system.problem_raised', response),
    ...itemsForAdmins({ kind: 'system_problem', reason: 'system', title, body: message, target }, at),
  ];
}
