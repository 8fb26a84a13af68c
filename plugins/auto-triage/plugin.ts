// auto-triage: learns from a team's issues, labels new ones bug, feature or question, finds likely duplicates and
// suggests a priority. Offline; see README.md.
import { definePlugin } from '@tatami/sdk/plugin';
import type { Scopes, Settings } from './context.ts';
import { learn } from './learn.ts';
import { triage } from './triage.ts';

export default definePlugin<Scopes, Settings>({
  id: 'auto-triage',
  version: '1.2.0',
  name: 'Auto-triage',
  description:
    'Labels new issues bug, feature or question, learned from the team’s own issues, names likely duplicates, suggests a priority, and explains why.',
  engines: { tatami: '*' },
  scopes: {
    'issues:read': { why: 'learn from issues, read new ones and find similar ones of the same team' },
    'issues:write': {
      why: 'set the kind label of a new issue that has none, and with the setting priority: "set" its priority',
      fields: ['labels', 'priority'],
    },
    'comments:write': { why: 'explain the label, likely duplicates and the priority in one comment' },
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
          'Confidence from which an issue is labelled, about the share of such labels that are right.',
      },
      suggest: {
        type: 'boolean',
        default: false,
        description: 'Suggest a kind in a comment when the confidence is below the threshold.',
      },
      rule: {
        type: 'boolean',
        default: true,
        description: 'Use general language cues while a team has too few labelled issues to learn from.',
      },
      duplicates: {
        type: 'boolean',
        default: true,
        description: 'Mention issues of the same team that are likely duplicates in the comment.',
      },
      priority: {
        type: 'string',
        enum: ['off', 'suggest', 'set'],
        default: 'suggest',
        description:
          'Priority of an issue that has none: not predicted, suggested in the comment, or set and explained there.',
      },
    },
  },
  limits: { cpuMs: 250, memoryMb: 64 },
  on: { 'issue.created': { order: 'issue', handle: (event, ctx) => triage(event.issue, ctx) } },
  schedules: {
    learn: { cron: '17 * * * *', overlap: 'skip', limits: { cpuMs: 10_000 }, handle: learn },
  },
});
