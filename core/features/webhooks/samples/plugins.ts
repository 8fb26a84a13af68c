// Sample data of plugins: a plugin runs and makes a proposal for the issue; Ben approves, rejects or undoes
// the proposal.
import type { EntityResponse } from '../../../kernel/contract/contract.ts';
import type { plugin } from '../../plugins/installs/contract.ts';
import type { proposal } from '../../proposals/contract.ts';
import { ben, idOf, timeOf, type SampleSetting, type SampleScenario } from './fixtures.ts';

const assigning = {
  scope: 'issues:write',
  sentence: 'Read issues, and write only their assigneeId, of team ENG only.',
  why: 'To assign them.',
  fields: ['assigneeId'],
  where: { team: ['ENG'] },
  granted: true,
};

const effect = {
  id: '1',
  operation: 'issues.update',
  kind: 'issue',
  entityId: idOf('iss'),
  name: 'ENG-42',
  issue: 'ENG-42',
  class: 'update' as const,
  fields: [{ name: 'priority' }],
  baseVersion: 3,
};
const effects = (decision: 'approved' | 'rejected') => [{ ...effect, decision }];

const ran = {
  runId: idOf('run'),
  installId: idOf('plg'),
  pluginId: 'com.acme.on-call',
  pluginVersion: '1.2.0',
  handler: 'issue.created',
  handlerKind: 'event',
  eventId: idOf('evt'),
  mode: 'apply',
  attempt: 1,
  calls: 2,
  fetches: 1,
  proposalId: null,
} as const;

export function pluginScenario(setting: SampleSetting): SampleScenario {
  const decided = { decidedBy: { kind: 'user', ...ben }, decidedAt: timeOf(setting.nowMs, 0) } as const;
  return {
    objects: {
      plugin: pluginOf(setting),
      proposal: proposalOf(setting),
      'automation.undone': {
        undo: { id: idOf('und') },
        undid: [idOf('prp')],
        plugin: { id: idOf('plg') },
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
      'automation.approved': {
        now: {
          status: 'approved',
          ...decided,
          effects: effects('approved'),
          events: [{ id: idOf('evt'), type: 'issue.updated' }],
        },
      },
      'automation.rejected': {
        now: {
          status: 'rejected',
          ...decided,
          effects: effects('rejected'),
          reason: 'It is urgent already.',
        },
      },
    },
  };
}

function pluginOf({ nowMs }: SampleSetting) {
  return {
    id: idOf('plg'),
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
        setAt: timeOf(nowMs, -9),
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

function proposalOf({ nowMs }: SampleSetting) {
  return {
    id: idOf('prp'),
    status: 'open',
    source: 'plugin_run',
    through: null,
    title: 'On call: update issue ENG-42: priority',
    author: { kind: 'plugin', id: idOf('plg'), name: 'On call' },
    installId: idOf('plg'),
    runId: idOf('run'),
    effects: [{ ...effect, decision: null }],
    revision: 1,
    expiresAt: timeOf(nowMs, 7),
    decidedBy: null,
    decidedAt: null,
    reason: null,
    events: [],
    undoneBy: null,
  } satisfies Partial<EntityResponse<typeof proposal>>;
}
