// How the document groups the operations, and what it says of each group: of resources the words of their contracts, of the rest those
// that stand here.
import { contracts } from './contracts.ts';
import { capital } from './lib/words.ts';
import type { Tag, TagGroup } from './http/openapi/document.ts';

const titles: Readonly<Record<string, string>> = {
  'api-keys': 'API keys',
  'oauth-apps': 'OAuth apps',
  workflows: 'Workflow states',
};

const ofContracts: ReadonlyMap<string, Tag> = new Map(
  contracts.map(({ path, doc }) => [
    path,
    { name: path, title: titles[path] ?? capital(path.replaceAll('-', ' ')), doc },
  ]),
);

const others: Readonly<Record<string, readonly Tag[]>> = {
  'People and access': [
    {
      name: 'me',
      title: 'Me',
      doc: 'The caller: which key, member and workspace a request speaks for.',
    },
    {
      name: 'audit-log',
      title: 'Audit log',
      doc: 'Who did what, and through which key or plugin. An entry is the event that tells of the change.',
    },
  ],
  Triage: [
    {
      name: 'triage',
      title: 'Public triage',
      doc: 'What issues are and how much they press, for anybody; no token is needed, and nothing is kept.',
    },
  ],
  Events: [
    {
      name: 'events',
      title: 'Events',
      doc: 'What happened, in one log for each workspace: read in pages, followed as a stream, or delivered to webhooks.',
    },
    {
      name: 'deliveries',
      title: 'Deliveries',
      doc: 'What was sent to webhooks, attempt by attempt, with the exact bytes; each can be sent again or canceled.',
    },
    {
      name: 'replays',
      title: 'Replays',
      doc: 'Past events on their way to a webhook again, from a moment or a place in the log on.',
    },
  ],
  Plugins: [
    {
      name: 'runs',
      title: 'Plugin runs',
      doc: 'What plugins did: what a run saw, called, changed, logged and cost.',
    },
    {
      name: 'undos',
      title: 'Undos',
      doc: 'What was taken back of what plugins did; each can be taken back itself.',
    },
    {
      name: 'backtests',
      title: 'Backtests',
      doc: 'What a version of a plugin would have done on recorded events, beside what people did.',
    },
  ],
  Operation: [
    { name: 'usage', title: 'Usage', doc: 'What each key, plugin and webhook has cost lately.' },
    {
      name: 'health',
      title: 'Health',
      doc: 'Whether the server is alive, and whether it does what it promises.',
    },
    { name: 'openapi', title: 'This document', doc: 'The description of the API that you are reading.' },
  ],
};

/** Where the resources stand that are not of the tracker itself. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  'People and access': ['workspace', 'members', 'api-keys', 'oauth-apps', 'grants'],
  Events: ['webhooks'],
  Plugins: ['plugins', 'proposals'],
};

export const tagGroups: readonly TagGroup[] = [
  {
    name: 'Tracker',
    tags: [...ofContracts.values()].filter(({ name }) => !Object.values(elsewhere).flat().includes(name)),
  },
  ...Object.entries(others).map(([name, tags]) => ({
    name,
    tags: [...(elsewhere[name] ?? []).flatMap((path) => ofContracts.get(path) ?? []), ...tags],
  })),
];
