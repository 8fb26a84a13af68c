// Notification preferences of members. All reasons are switched on by default.
import { Type, type Static } from 'typebox';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { json } from '../../kernel/changes/operations.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import type { Context, Directory } from '../../kernel/context.ts';
import { member } from '../people/contract.ts';
import { Closed, described, idAndName, idOf, namedSchema } from '../../platform/lib/schema.ts';
import { switchableReasons } from './contract.ts';

type Reason = (typeof switchableReasons)[number];

const words: Readonly<Record<Reason, string>> = {
  assigned: 'Notifications about issues that are assigned to the member.',
  mentioned: 'Notifications about texts that mention the member.',
  replied: 'Notifications about replies in threads in which the member commented.',
  subscribed:
    'Notifications about comments on issues that the member is subscribed to, and about changes of their state, priority, assignee and due date.',
  triage: 'Notifications about new issues in triage; sent to admins and owners only.',
  sla: 'Notifications about SLAs at risk or breached, on issues assigned to the member or, if unassigned, subscribed to.',
  project_update: 'Notifications about updates of projects that the member leads or belongs to.',
};
type Flag = ReturnType<typeof Type.Boolean>;

const flagsOf = <F>(flag: (description: string) => F): Record<Reason, F> =>
  Object.fromEntries(switchableReasons.map((reason) => [reason, flag(words[reason])])) as Record<Reason, F>;
const flags = flagsOf<Flag>((description) => Type.Boolean({ description }));

export const InboxPreferences = namedSchema('InboxPreferences', Closed(flags));
export const InboxPreferencesPut = namedSchema(
  'InboxPreferencesPut',
  Closed(flagsOf((description) => Type.Optional(Type.Boolean({ description })))),
);
export const InboxPreferencesEvent = namedSchema(
  'MemberInboxPreferences',
  Closed({
    member: described(idAndName(idOf(member.id), 'the member'), 'Member whose preferences these are.'),
    ...flags,
  }),
);
type Preferences = Static<typeof InboxPreferences>;

interface Stored {
  /** Id of the member. */
  readonly id: string;
  readonly version: number;
  readonly off: readonly Reason[];
}

const preferencesModel = modelOf<Stored, Static<typeof InboxPreferencesEvent>>({
  name: 'inbox_preferences',
  table: 'inbox_preferences',
  fields: { off: json('off_json') },
  withoutPrevious: true,
  toResponse: ({ id, off }, { directory }) => ({
    member: toMemberResponse(id, directory),
    ...toPreferencesResponse(off),
  }),
  events: () => ['inbox.preferences_updated'],
});

const toMemberResponse = (id: string, { members }: Directory) => ({ id, name: members.get(id)?.name ?? '' });

function toPreferencesResponse(off: readonly Reason[]): Preferences {
  return Object.fromEntries(
    switchableReasons.map((reason) => [reason, !off.includes(reason)]),
  ) as Preferences;
}

export async function getPreferences(ctx: Context, memberId: string): Promise<Preferences> {
  return toPreferencesResponse((await preferencesModel.find(ctx, memberId))?.off ?? []);
}

/** Omitted reasons are switched on. */
export async function putPreferences(
  ctx: Context,
  memberId: string,
  input: Partial<Preferences>,
): Promise<ChangeSet> {
  const off = switchableReasons.filter((reason) => input[reason] === false);
  const known = await preferencesModel.find(ctx, memberId);
  const change = known
    ? preferencesModel.update(known, { off }, ctx.nowMs())
    : preferencesModel.create({ id: memberId, off });
  return { changes: change && (known || off.length > 0) ? [change] : [], body: toPreferencesResponse(off) };
}

/**
 * Returns the ids of the members who have not switched off their reason.
 * @param reasonOf reason of the notification by member id
 */
export async function listeningTo(
  ctx: Context,
  reasonOf: ReadonlyMap<string, Reason>,
): Promise<ReadonlySet<string>> {
  const stored = await preferencesModel.findMany(ctx, [...reasonOf.keys()]);
  const deaf = stored.filter(({ id, off }) => off.includes(reasonOf.get(id)!)).map(({ id }) => id);
  return new Set([...reasonOf.keys()].filter((id) => !deaf.includes(id)));
}
