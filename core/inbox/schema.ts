// Inbox items: what the system did that somebody should look at. An item is the event that announced it.
import { Type, type Static } from 'typebox';
import { idPrefixes } from '../lib/ids.ts';
import { Closed, idOf, named, time } from '../lib/schema.ts';

const inboxKinds = [
  'webhook_disabled',
  'plugin_disabled',
  'plugin_unheard',
  'plugin_missed_events',
  'system_problem',
] as const;

export const InboxItemShown = named(
  'InboxItem',
  Closed({
    id: idOf(idPrefixes.inboxItem),
    kind: Type.Enum([...inboxKinds]),
    title: Type.String(),
    body: Type.String({ description: 'What happened, why, and what to do about it.' }),
    target: Closed({ kind: Type.String(), id: Type.String() }, { description: 'What it is about.' }),
    createdAt: time,
  }),
);
export type InboxItem = Static<typeof InboxItemShown>;
