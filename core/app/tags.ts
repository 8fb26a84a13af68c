// Groups the operations of the OpenAPI document under tags. Tags of resources are described by their contracts, all others here.
import { contracts } from '../features/contracts.ts';
import { capital } from '../platform/lib/text/words.ts';
import type { Tag, TagGroup } from '../kernel/http/openapi/document.ts';

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
      doc: 'The caller: key, member and workspace of the request.',
    },
    {
      name: 'audit-log',
      title: 'Audit log',
      doc: 'Changes with their author and the key or plugin that was used. Each entry is the event of the change.',
    },
  ],
  Triage: [
    {
      name: 'triage',
      title: 'Public triage',
      doc: 'Type and priority suggestions for issues. Public: needs no token and stores nothing.',
    },
  ],
  Events: [
    {
      name: 'events',
      title: 'Events',
      doc: 'Changes of a workspace in one ordered log: read in pages, followed as a stream, or delivered to webhooks.',
    },
    {
      name: 'deliveries',
      title: 'Deliveries',
      doc: 'Delivery attempts to webhooks with the exact bytes sent; each delivery can be sent again or canceled.',
    },
    {
      name: 'replays',
      title: 'Replays',
      doc: 'Redeliveries of past events to a webhook, from a time or a sequence in the log.',
    },
  ],
  Plugins: [
    {
      name: 'runs',
      title: 'Plugin runs',
      doc: 'Runs of plugins: input, calls, changes, logs and cost.',
    },
    {
      name: 'undos',
      title: 'Undos',
      doc: 'Reversals of plugin changes; an undo can itself be undone.',
    },
    {
      name: 'backtests',
      title: 'Backtests',
      doc: 'Effects that a plugin version would have had on recorded events, compared with the changes people made.',
    },
  ],
  Operation: [
    { name: 'usage', title: 'Usage', doc: 'Recent cost of each key, plugin and webhook.' },
    {
      name: 'health',
      title: 'Health',
      doc: 'Liveness and readiness of the server.',
    },
    { name: 'openapi', title: 'This document', doc: 'The OpenAPI description of this API.' },
  ],
};

/** Paths of the resources that are not in the tag group `Tracker`, by group. */
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
