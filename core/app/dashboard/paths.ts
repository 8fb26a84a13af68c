// Paths of the web app. The server answers each with the app's page, and the router has a screen for each.

export const paths = {
  root: '/',
  welcome: '/welcome',
  myIssues: '/my-issues',
  inbox: '/inbox',
  triage: '/triage',
  issues: '/issues',
  issue: '/issues/{identifier}',
  view: '/views/{id}',
  boards: '/boards',
  board: '/boards/{id}',
  cycles: '/cycles',
  cycle: '/cycles/{id}',
  projects: '/projects',
  project: '/projects/{id}',
  releases: '/releases',
  release: '/releases/{id}',
  sla: '/sla',
  proposals: '/proposals',
  webhooks: '/webhooks',
  webhook: '/webhooks/{id}',
  delivery: '/deliveries/{id}',
  apiKeys: '/api-keys',
  auditLog: '/audit-log',
} as const;

export type PathName = keyof typeof paths;
