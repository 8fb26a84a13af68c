// auto-triage: learns what a team calls a bug, a feature and a question, and labels new issues so. Offline; see
// README.md.
import { definePlugin } from '@tatami/sdk/plugin';
import type { Scopes, Settings } from './context.ts';
import { learn } from './learn.ts';
import { triage } from './triage.ts';

export default definePlugin<Scopes, Settings>({
  id: 'auto-triage',
  version: '1.1.0',
  name: 'Auto-triage',
  description:
    'Labels new issues bug, feature or question, as learned from the team’s own labelled issues, and says why.',
  engines: { tatami: '*' },
  scopes: {
    'issues:read': { why: 'learn from labelled issues and read new ones' },
    'issues:write': { why: 'set the kind label of a new issue that has none', fields: ['labels'] },
    'comments:write': { why: 'say in one comment why it chose that label' },
    'labels:read': { why: 'find the labels that name a kind' },
  },
  settings: {
    type: 'object',
    additionalProperties: false,
    properties: {
      threshold: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        default: 0.5,
        description:
          'Label at or above this confidence, which is about the share of such labels that are right.',
      },
      suggest: {
        type: 'boolean',
        default: false,
        description: 'Below the threshold, add a comment that says what the issue might be.',
      },
      rule: {
        type: 'boolean',
        default: true,
        description:
          'While a team has too few labelled issues to learn from, go by general cues of language.',
      },
    },
  },
  limits: { cpuMs: 250, memoryMb: 64 },
  on: { 'issue.created': { order: 'issue', handle: (event, ctx) => triage(event.data, ctx) } },
  schedules: {
    learn: { cron: '17 * * * *', overlap: 'skip', limits: { cpuMs: 10_000 }, handle: learn },
  },
});
