// All features, one line each. Everything that the program collects from features is derived from this list. A feature
// imports only features above it, and the contracts of all.
import { eventRoutes } from '../kernel/events/feed/routes.ts';
import { defineFeature, type Feature } from '../kernel/feature.ts';
import type { Route } from '../kernel/http/route.ts';
import { usageRoutes } from '../kernel/ledger/routes.ts';
import type { AllSamples } from '../kernel/samples.ts';
import type { Resource } from '../kernel/resource/define.ts';
import { people } from '../features/people/index.ts';
import { apiKeys } from '../features/api-keys/index.ts';
import { signIn } from '../features/sign-in/index.ts';
import { oauth } from '../features/oauth/index.ts';
import { me } from '../features/me/index.ts';
import { auditLog } from '../features/audit-log/index.ts';
import { workflows } from '../features/workflows/index.ts';
import { teams } from '../features/teams/index.ts';
import { fields } from '../features/fields/index.ts';
import { projects } from '../features/projects/index.ts';
import { templates } from '../features/templates/index.ts';
import { issues } from '../features/issues/index.ts';
import { comments } from '../features/comments/index.ts';
import { attachments } from '../features/attachments/index.ts';
import { relations } from '../features/relations/index.ts';
import { reactions } from '../features/reactions/index.ts';
import { subscribers } from '../features/subscribers/index.ts';
import { projectUpdates } from '../features/project-updates/index.ts';
import { milestones } from '../features/milestones/index.ts';
import { pipelines } from '../features/pipelines/index.ts';
import { releases } from '../features/releases/index.ts';
import { cycles } from '../features/cycles/index.ts';
import { progress } from '../features/progress/index.ts';
import { boards } from '../features/boards/index.ts';
import { views } from '../features/views/index.ts';
import { labels } from '../features/labels/index.ts';
import { calendars } from '../features/calendars/index.ts';
import { slaPolicies } from '../features/sla-policies/index.ts';
import { sla } from '../features/sla/index.ts';
import { search } from '../features/search/index.ts';
import { inbox } from '../features/inbox/index.ts';
import { preferences } from '../features/preferences/index.ts';
import { notifications } from '../features/notifications/index.ts';
import { triage } from '../features/triage/index.ts';
import { webhooks } from '../features/webhooks/index.ts';
import { proposals } from '../features/proposals/index.ts';
import { automationHosts } from '../features/automation-hosts/index.ts';
import { automations } from '../features/automations/index.ts';
import { plugins } from '../features/plugins/index.ts';
import { agents } from '../features/agents/index.ts';
import { exportAndImport } from '../features/export/index.ts';
import type { Contract } from '../kernel/contract/contract.ts';
import type { Tag, TagGroup } from '../kernel/http/openapi/document.ts';
import { capital } from '../platform/lib/text/words.ts';

/** Routes of the kernel. */
const events = defineFeature({
  name: 'events',
  routes: eventRoutes,
  tagGroup: 'Events',
  tags: [
    {
      name: 'events',
      title: 'Events',
      doc: 'Changes of a workspace in one ordered log: read in pages, followed as a stream, or delivered to webhooks.',
    },
  ],
});
const operation = defineFeature({
  name: 'operation',
  routes: usageRoutes,
  tagGroup: 'Operation',
  tags: [
    { name: 'usage', title: 'Usage', doc: 'Recent cost of each key, plugin and webhook.' },
    { name: 'health', title: 'Health', doc: 'Liveness and readiness of the server.' },
    { name: 'openapi', title: 'This document', doc: 'The OpenAPI description of this API.' },
  ],
});

export const features: readonly Feature[] = [
  people,
  apiKeys,
  signIn,
  oauth,
  me,
  auditLog,
  workflows,
  teams,
  fields,
  projects,
  templates,
  issues,
  comments,
  attachments,
  relations,
  reactions,
  subscribers,
  projectUpdates,
  milestones,
  pipelines,
  releases,
  cycles,
  progress,
  boards,
  views,
  labels,
  calendars,
  slaPolicies,
  sla,
  search,
  inbox,
  preferences,
  notifications,
  triage,
  events,
  webhooks,
  proposals,
  automationHosts,
  automations,
  plugins,
  agents,
  exportAndImport,
  operation,
];

export const resources: readonly Resource[] = features.flatMap((feature) => feature.resources ?? []);

/** Models of all stored objects, including those without a resource. */
export const storedModels: ReadonlyMap<string, Resource['model']> = new Map(
  [...resources.map(({ model }) => model), ...features.flatMap((feature) => feature.models ?? [])].map(
    (model) => [model.name, model],
  ),
);

export const directoryLoaders = resources.flatMap(({ directory }) => directory ?? []);

export const resourceRoutes: readonly Route[] = [
  ...resources.flatMap(({ routes }) => routes),
  ...features.flatMap((feature) => feature.routes ?? []),
];

export const eventReactions = features.flatMap((feature) => feature.reactions ?? []);
export const projections = features.flatMap((feature) => feature.projections ?? []);
export const timers = features.flatMap((feature) => feature.timers ?? []);
export const delegations = features.flatMap((feature) => feature.delegation ?? []);

export const samples: AllSamples = (setting) => {
  const all = features.flatMap((feature) => feature.samples?.(setting) ?? []);
  return {
    objects: Object.assign({}, ...all.map(({ objects }) => objects)),
    moments: Object.assign({}, ...all.map(({ moments }) => moments)),
  };
};

/** Titles of tags that are not the path in other words. */
const titles: Readonly<Record<string, string>> = {
  'api-keys': 'API keys',
  'oauth-apps': 'OAuth apps',
  workflows: 'Workflow states',
};

const tagOf = ({ path, doc }: Contract): Tag => ({
  name: path,
  title: titles[path] ?? capital(path.replaceAll('-', ' ')),
  doc,
});

function tagsOf({ resources = [], contracts = [], tags = [] }: Feature): Tag[] {
  return [...resources.map(({ contract }) => contract), ...contracts].map(tagOf).concat(tags);
}

/** The document begins with the tracker, although its features depend on people and access. */
const groups: Readonly<Partial<Record<string, readonly Feature[]>>> = {
  Tracker: [],
  ...Object.groupBy(features, ({ tagGroup = 'Tracker' }) => tagGroup),
};

/**
 * Groups the operations of the OpenAPI document. A contract describes the tag of its resource, and a feature describes
 * its other tags.
 */
export const tagGroups: readonly TagGroup[] = Object.entries(groups).map(([name, group = []]) => ({
  name,
  tags: group.flatMap(tagsOf),
}));
