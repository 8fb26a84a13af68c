// Inbox items: what the system did that somebody should look at. An item is the event that announced it.
import { Type, type Static } from 'typebox';
import { idPrefixes } from '../lib/ids.ts';
import { Closed, described, enumeration, idOf, named, time } from '../lib/schema.ts';

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
    kind: enumeration('InboxKind', inboxKinds, 'What kind of thing happened.'),
    title: Type.String({ description: 'What happened, in one line.' }),
    body: Type.String({ description: 'What happened, why, and what to do about it.' }),
    target: Closed(
      {
        kind: Type.String({ description: 'Such as `webhook`.' }),
        id: Type.String({ description: 'Its id.' }),
      },
      { description: 'What it is about.' },
    ),
    createdAt: described(time, 'When it happened.'),
  }),
);
export type InboxItem = Static<typeof InboxItemShown>;
