// Facts about commands that the API does not have: other names, calls with fixed values, and columns that people prefer.

/** Other names of nouns, besides the singular. */
export const nounAliases: Readonly<Record<string, string>> = { 'oauth-apps': 'apps' };

/** Other names of verbs, by operation. */
export const verbAliases: Readonly<Record<string, string>> = {
  'members.delete': 'remove',
  'grants.delete': 'revoke',
  'api-keys.delete': 'revoke',
  'plugins.delete': 'uninstall',
  'plugins.runs': 'logs',
  'plugins.call-action': 'action',
};

interface Preset {
  readonly operation: string;
  readonly verb: string;
  readonly summary: string;
  /** Body of the call; the command has no flags for it. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Commands that call an operation with a fixed body. */
export const presets: readonly Preset[] = [
  {
    operation: 'plugins.update',
    verb: 'enable',
    summary: 'Enable a plugin that is paused or disabled',
    body: { state: 'active' },
  },
  {
    operation: 'plugins.update',
    verb: 'disable',
    summary: 'Disable a plugin; plugins catch-up backfills the events it misses',
    body: { state: 'paused_by_admin' },
  },
];

interface Borrowed {
  readonly operation: string;
  readonly verb: string;
  readonly summary: string;
}

/** Commands of a noun that call an operation of another noun on its objects, by noun. */
export const borrowed: Readonly<Record<string, readonly Borrowed[]>> = {
  automations: [
    { operation: 'plugins.runs', verb: 'runs', summary: 'List the runs of an automation, newest first' },
  ],
};

/** Flags that take an install, by operation: its id, the id of its plugin, or the name of an automation. */
export const installFlags: Readonly<Record<string, string>> = { 'proposals.list': 'install' };

/** Columns of lists where those derived from the schema tell less. */
export const columns: Readonly<Record<string, readonly string[]>> = {
  'issues.list': ['identifier', 'title', 'state', 'priority', 'assignee', 'labels', 'updatedAt'],
  'labels.list': ['id', 'name', 'color', 'team'],
  'plugins.versions': ['version', 'publisher', 'installedAt', 'replacedAt', 'sha256'],
  'plugins.scheduled': ['name', 'dueAt', 'data', 'hasHandler'],
  'plugins.routes': ['name', 'method', 'auth', 'url'],
  'webhooks.list': ['id', 'url', 'events', 'ordering', 'enabled', 'disabledReason', 'description'],
  'deliveries.list': [
    'id',
    'status',
    'attempts',
    'eventType',
    'eventId',
    'webhookId',
    'nextAttemptAt',
    'createdAt',
  ],
  'webhooks.deliveries': [
    'id',
    'status',
    'attempts',
    'eventType',
    'eventId',
    'origin',
    'nextAttemptAt',
    'createdAt',
  ],
  'grants.list': ['id', 'client', 'member', 'resource', 'scopes', 'lastUsedAt', 'revokedAt'],
  'search.query': ['issue.identifier', 'issue.title', 'issue.state', 'issue.priority', 'highlights.text'],
  'comments.list': ['id', 'author', 'body', 'createdAt'],
  'reactions.list': ['emoji', 'count', 'who'],
  'reactions.list-by-comment': ['commentId', 'reactions'],
  'reactions.list-on-issue': ['emoji', 'count', 'who'],
};

/** Operations that a person decides on a page of the server, and the page. A login is an app, which cannot decide for a person. */
export const decisionPages: Readonly<Record<string, string>> = {
  'proposals.approve': '/proposals/{id}',
  'proposals.reject': '/proposals/{id}',
  'proposals.rerun': '/proposals/{id}',
};

/** Pages of the app that `--web` opens: of a list the path, of an object the field with the URL. */
export const pages: Readonly<Record<string, string>> = {
  'api-keys.list': '/api-keys',
  'audit-log.list': '/audit-log',
  'boards.get': 'url',
  'boards.list': '/boards',
  'cycles.get': 'url',
  'cycles.list': '/cycles',
  'deliveries.get': 'pageUrl',
  'inbox.list': '/inbox',
  'issues.get': 'url',
  'issues.list': '/issues',
  'projects.get': 'url',
  'projects.list': '/projects',
  'proposals.get': 'url',
  'proposals.list': '/proposals',
  'releases.get': 'url',
  'releases.list': '/releases',
  'sla.list': '/sla',
  'views.get': 'url',
  'webhooks.get': 'pageUrl',
  'webhooks.list': '/webhooks',
};

/** Operations that handwritten commands perform, and the commands. */
export const handwritten: Readonly<Record<string, string>> = {
  'members.invite': 'members invite',
  'plugins.install': 'plugins install',
  'plugins.backtest': 'plugins backtest',
  'plugins.consent.get': 'plugins consent',
  'plugins.consent.give': 'plugins consent',
  'plugins.consent.refuse': 'plugins consent',
  'plugins.shadow': 'plugins shadow',
  'proposals.approve': 'proposals approve',
  'runs.replay': 'runs replay',
};
