// Tags of the OpenAPI document: those of resources take their text from the contract, the others are written here.
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
      doc: 'Key, member and workspace of the caller.',
    },
    {
      name: 'audit-log',
      title: 'Audit log',
      doc: 'Changes by actor, and the key or plugin used. Each entry is the event of the change.',
    },
  ],
  Triage: [
    {
      name: 'triage',
      title: 'Public triage',
      doc: 'Suggested type and priority of an issue; needs no token and stores nothing.',
    },
  ],
  Events: [
    {
      name: 'events',
      title: 'Events',
      doc: 'Event log of the workspace: read it in pages, follow it as a stream, or have it delivered to webhooks.',
    },
    {
      name: 'deliveries',
      title: 'Deliveries',
      doc: 'Webhook deliveries with each attempt and the exact bytes sent; they can be resent or canceled.',
    },
    {
      name: 'replays',
      title: 'Replays',
      doc: 'Redeliveries of past events to a webhook, from a time or a position in the log.',
    },
  ],
  Plugins: [
    {
      name: 'runs',
      title: 'Plugin runs',
      doc: 'Plugin runs with their input, calls, changes, logs and cost.',
    },
    {
      name: 'undos',
      title: 'Undos',
      doc: 'Undone changes of plugin runs; an undo can itself be undone.',
    },
    {
      name: 'backtests',
      title: 'Backtests',
      doc: 'Effects that a plugin version would have had on recorded events, compared with what people did.',
    },
  ],
  Operation: [
    { name: 'usage', title: 'Usage', doc: 'Recent resource usage by key, plugin and webhook.' },
    {
      name: 'health',
      title: 'Health',
      doc: 'Liveness and readiness of the server.',
    },
    { name: 'openapi', title: 'This document', doc: 'OpenAPI description of this API.' },
  ],
};

/** Groups of the resources that are not part of the tracker itself. */
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
