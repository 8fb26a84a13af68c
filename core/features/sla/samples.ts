// Sample data of SLA clocks: the issue has a deadline, is at risk, and is resolved in time.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import type { slaClock } from './contract.ts';
import { hourMs } from '../../platform/lib/time/time.ts';
import { ana, engineering, sampleId, type Samples, type SampleSetting } from '../../kernel/samples.ts';

const timeOf = ({ nowMs }: SampleSetting, hours: number): string =>
  new Date(nowMs + hours * hourMs).toISOString();

const objectsOf = (setting: SampleSetting) => ({
  sla_clock: {
    id: sampleId('slc'),
    kind: 'resolution',
    state: 'running',
    policy: { id: sampleId('sla'), name: 'Urgent bugs in three days' },
    issue: {
      id: sampleId('iss'),
      identifier: 'ENG-42',
      title: 'The save dialog crashes when the disk is full',
    },
    team: engineering,
    assignee: ana,
    startedAt: timeOf(setting, -48),
    dueAt: timeOf(setting, 24),
    atRiskAt: timeOf(setting, 16),
    pausedAt: null,
    remainingMs: null,
    reachedAt: null,
    endedAt: null,
  } satisfies Partial<EntityResponse<typeof slaClock>>,
});

function momentsOf(setting: SampleSetting) {
  const [before, now, later] = [timeOf(setting, -1), timeOf(setting, 0), timeOf(setting, 24)];
  const breached = { state: 'breached', dueAt: before, atRiskAt: timeOf(setting, -9) };
  return {
    'sla.started': { now: { startedAt: now } },
    'sla.paused': {
      now: { state: 'paused', pausedAt: now, remainingMs: 24 * hourMs, dueAt: null, atRiskAt: null },
      previous: { state: 'running', dueAt: later, pausedAt: null, remainingMs: null },
    },
    'sla.resumed': {
      previous: { state: 'paused', dueAt: null, pausedAt: before, remainingMs: 24 * hourMs },
    },
    'sla.at_risk': {
      now: { state: 'at_risk', dueAt: timeOf(setting, 8), atRiskAt: now },
      previous: { state: 'running' },
    },
    'sla.breached': {
      now: { ...breached, dueAt: now },
      previous: { state: 'at_risk' },
    },
    'sla.met': {
      now: { state: 'met', reachedAt: now, endedAt: now },
      previous: { state: 'running', reachedAt: null, endedAt: null },
    },
    'sla.reached_late': {
      now: { ...breached, reachedAt: now, endedAt: now },
      previous: { reachedAt: null, endedAt: null },
    },
    'sla.canceled': {
      now: { state: 'canceled', endedAt: now },
      previous: { state: 'running', endedAt: null },
    },
  };
}

export const slaSamples: Samples = (setting) => ({
  objects: objectsOf(setting),
  moments: momentsOf(setting),
});
