// Screens of the navigation, which the palette lists too.
import { text } from './text/shell.ts';

export const workScreens = [
  { to: '/my-issues', label: text.myIssues },
  { to: '/inbox', label: text.inbox },
  { to: '/triage', label: text.triage },
  { to: '/issues', label: text.issues },
  { to: '/boards', label: text.boards },
  { to: '/cycles', label: text.cycles },
  { to: '/projects', label: text.projects },
  { to: '/releases', label: text.releases },
  { to: '/sla', label: text.sla },
  { to: '/automations', label: text.automations },
] as const;

export const developerScreens = [
  { to: '/proposals', label: text.proposals },
  { to: '/webhooks', label: text.webhooks },
  { to: '/api-keys', label: text.apiKeys },
  { to: '/audit-log', label: text.auditLog },
] as const;

export const screens = [...workScreens, ...developerScreens];
