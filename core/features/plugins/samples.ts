// Sample data of plugins: a plugin assigns urgent issues.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { sampleId, timeAfter, type Samples, type SampleSetting } from '../../kernel/samples.ts';
import type { plugin } from './installs/contract.ts';

const assigning = {
  scope: 'issues:write',
  sentence: 'Read issues, and write only their assigneeId, of team ENG only.',
  why: 'To assign them.',
  fields: ['assigneeId'],
  where: { team: ['ENG'] },
  granted: true,
};

const ran = {
  runId: sampleId('run'),
  installId: sampleId('plg'),
  pluginId: 'com.acme.on-call',
  pluginVersion: '1.2.0',
  handler: 'issue.created',
  handlerKind: 'event',
  eventId: sampleId('evt'),
  mode: 'apply',
  attempt: 1,
  calls: 2,
  fetches: 1,
  proposalId: null,
  ruleId: null,
} as const;

export const pluginSamples: Samples = (setting) => ({
  objects: {
    plugin: pluginOf(setting),
    'automation.undone': {
      undo: { id: sampleId('und') },
      undid: [sampleId('prp')],
      plugin: { id: sampleId('plg') },
      changed: 1,
      skipped: 0,
    },
    'automation.run': { ...ran, status: 'succeeded', changed: 1, errorCode: null },
    'automation.failed': { ...ran, status: 'dead', attempt: 5, changed: 0, errorCode: 'error' },
  },
  moments: {
    'plugin.updated': { previous: { pluginVersion: '1.1.0' } },
    'plugin.disabled': {
      now: { state: 'paused_by_admin', stateReason: 'Paused by Ben Okafor.' },
      previous: { state: 'active', stateReason: null },
    },
  },
});

function pluginOf({ nowMs }: SampleSetting) {
  return {
    id: sampleId('plg'),
    pluginId: 'com.acme.on-call',
    pluginVersion: '1.2.0',
    name: 'On call',
    description: 'Assigns urgent issues to the person on call.',
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    scopes: [assigning],
    events: ['issue.created'],
    filters: { 'issue.created': { priority: ['urgent'] } },
    schedules: [{ name: 'handover', cron: '0 9 * * 1', timeZone: 'Europe/Zagreb', tz: 'Europe/Zagreb' }],
    settings: { channel: 'on-call' },
    net: [
      {
        origin: 'https://chat.acme.example',
        methods: ['POST'],
        path: '/rooms/',
        why: 'To announce the person on call.',
      },
    ],
    secrets: [
      {
        name: 'CHAT_KEY',
        hosts: ['https://chat.acme.example'],
        header: 'Authorization',
        setAt: timeAfter(nowMs, -9),
      },
    ],
    mode: 'apply',
    modes: { 'update.priority': 'propose' },
    state: 'active',
    stateReason: null,
    publisher: 'Acme',
    pending: null,
    probation: null,
    budget: { runs: 5_000, whenSpent: 'stop' },
  } satisfies Partial<EntityResponse<typeof plugin>>;
}
