// A proposal that nobody decided on ends by itself.
import type { Alarm } from '../reactions/alarm.ts';
import { archiveItemsAbout } from '../inbox/about.ts';
import { proposal } from './contract.ts';
import { expiryAlarmName, proposalKind, type Proposal } from './kind.ts';
import { targetOf } from './make.ts';

export const expiryAlarm: Alarm = {
  name: expiryAlarmName,
  isSetBy: ({ kind, after }) => kind === proposal.name && (after as Proposal).status === 'open',
  async ring(ctx, id) {
    const found = await proposalKind.find(ctx, id);
    const now = ctx.nowMs();
    if (!found || found.status !== 'open' || found.expiresAt > now) return { changes: [] };
    const change = proposalKind.update(found, { status: 'expired', reason: 'expired', decidedAt: now }, now);
    return { changes: [...(change ? [change] : []), ...(await archiveItemsAbout(ctx, targetOf(found)))] };
  },
};
