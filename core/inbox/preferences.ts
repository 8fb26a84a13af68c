// Of which reasons a member wants to hear. Who has said nothing hears of all.
import { Type, type Static } from 'typebox';
import type { ChangeSet } from '../changes/change.ts';
import { json } from '../changes/columns.ts';
import { defineKind } from '../changes/kind.ts';
import type { Context, Directory } from '../context.ts';
import { member } from '../identity/members/contract.ts';
import { Closed, described, idAndName, idOf, named } from '../lib/schema.ts';
import { switchableReasons } from './contract.ts';

type Reason = (typeof switchableReasons)[number];

const words: Readonly<Record<Reason, string>> = {
  assigned: 'Issues that are assigned to the member.',
  mentioned: 'Texts that mention the member.',
  replied: 'Answers in threads that the member wrote in.',
  subscribed:
    'Comments on issues that the member follows, and changes of their state, priority, assignee and due date.',
  triage: 'New issues in triage; admins and owners are told of them.',
  sla: 'Issues of the member whose targets are at risk or missed.',
  project_update: 'Updates of projects that the member leads.',
};
type Flag = ReturnType<typeof Type.Boolean>;

const flagsOf = <F>(flag: (description: string) => F): Record<Reason, F> =>
  Object.fromEntries(switchableReasons.map((reason) => [reason, flag(words[reason])])) as Record<Reason, F>;
const flags = flagsOf<Flag>((description) => Type.Boolean({ description }));

export const InboxPreferences = named('InboxPreferences', Closed(flags));
export const InboxPreferencesPut = named(
  'InboxPreferencesPut',
  Closed(flagsOf((description) => Type.Optional(Type.Boolean({ description })))),
);
export const InboxPreferencesTold = named(
  'InboxPreferencesTold',
  Closed({ member: described(idAndName(idOf(member.id), 'the member'), 'Whose they are.'), ...flags }),
);
type Preferences = Static<typeof InboxPreferences>;

interface Stored {
  /** Of the member. */
  readonly id: string;
  readonly version: number;
  readonly off: readonly Reason[];
}

const preferencesKind = defineKind<Stored, Static<typeof InboxPreferencesTold>>({
  name: 'inbox_preferences',
  table: 'inbox_preferences',
  fields: { off: json('off_json') },
  isTold: true,
  wire: ({ id, off }, { directory }) => ({ member: shownMember(id, directory), ...shownOf(off) }),
  events: () => ['inbox.preferences_updated'],
});

const shownMember = (id: string, { members }: Directory) => ({ id, name: members.get(id)?.name ?? '' });

function shownOf(off: readonly Reason[]): Preferences {
  return Object.fromEntries(
    switchableReasons.map((reason) => [reason, !off.includes(reason)]),
  ) as Preferences;
}

export async function getPreferences(ctx: Context, memberId: string): Promise<Preferences> {
  return shownOf((await preferencesKind.find(ctx, memberId))?.off ?? []);
}

/** What is left out is on. */
export async function putPreferences(
  ctx: Context,
  memberId: string,
  given: Partial<Preferences>,
): Promise<ChangeSet> {
  const off = switchableReasons.filter((reason) => given[reason] === false);
  const known = await preferencesKind.find(ctx, memberId);
  const change = known
    ? preferencesKind.update(known, { off }, ctx.nowMs())
    : preferencesKind.create({ id: memberId, off });
  return { changes: change && (known || off.length > 0) ? [change] : [], body: shownOf(off) };
}

/** Of those members, the ones who want to hear of a reason. @param reasonOf by member */
export async function listeningTo(
  ctx: Context,
  reasonOf: ReadonlyMap<string, Reason>,
): Promise<ReadonlySet<string>> {
  const stored = await preferencesKind.findMany(ctx, [...reasonOf.keys()]);
  const deaf = stored.filter(({ id, off }) => off.includes(reasonOf.get(id)!)).map(({ id }) => id);
  return new Set([...reasonOf.keys()].filter((id) => !deaf.includes(id)));
}
