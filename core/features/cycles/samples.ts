// Sample data of cycles: the cycle in which the sample issue is completed.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import type { cycle } from './contract.ts';
import { sampleCycle, type Samples } from '../../kernel/samples.ts';

/** Returns a period of two weeks with today in the middle. */
const spanOf = (nowMs: number): { startsAt: string; endsAt: string } => {
  const midnight = Math.floor(nowMs / dayMs) * dayMs;
  const at = (days: number): string => new Date(midnight + days * dayMs).toISOString();
  return { startsAt: at(-7), endsAt: at(7) };
};

export const cycleSamples: Samples = ({ nowMs }) => {
  const { startsAt, endsAt } = spanOf(nowMs);
  const upcoming = { status: 'upcoming', startedAt: null };
  return {
    objects: {
      cycle: {
        ...sampleCycle,
        description: 'No data is lost when the disk is full.',
        team: 'ENG',
        startsAt,
        endsAt,
        status: 'active',
        startedAt: startsAt,
        completedAt: null,
      } satisfies Partial<EntityResponse<typeof cycle>>,
    },
    moments: {
      'cycle.created': { now: upcoming },
      'cycle.updated': { previous: { description: '' } },
      'cycle.deleted': { now: upcoming, previous: {} },
      'cycle.started': { previous: upcoming },
      'cycle.completed': {
        now: { status: 'completed', completedAt: endsAt },
        previous: { status: 'active', completedAt: null },
      },
    },
  };
};
