// `Tatami-Mode: propose`: stores a planned API write as a proposal.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Propose } from '../../kernel/http/write.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { showWhole } from './model.ts';
import { makeProposal, makingIn } from './make.ts';

export function createPropose(committer: Committer): Propose {
  return (now, write, sinceMs) => {
    const { actor, cause, authority } = now;
    const planned = { since: sinceMs, until: now.nowMs() };
    const created = makeProposal(
      { committer, planned, actor, grantId: authority.grantId, cause, run: null, writes: [write] },
      makingIn(now),
    );
    if (!created)
      throw new ApiError(
        'conflict',
        'Nothing to propose: this request changes no object that a proposal can show. Send it without the header Tatami-Mode.',
      );
    const { after, id } = created.proposal;
    return {
      changes: [created.proposal, ...created.items],
      body: showWhole(after, now),
      status: 202,
      location: `${now.baseUrl}/api/v1/proposals/${id}`,
    };
  };
}
