// Table of proposals.
import { defineTable } from '../../kernel/table/define.ts';
import { proposal } from './contract.ts';

const hidden = 'internal state, which no request shows';
const partly = 'events show it in part, or with a wording that depends on the release';

export const proposalTable = defineTable('proposals', {
  contract: proposal,
  owner: 'workspace',
  retention: { days: 'runs', since: 'decided_at' },
  exported: { not: 'its secrets are encrypted with the key of the server' },
  log: 'own',
  quotes: { elsewhere: 'forgetInProposals rejects a pending proposal, which is a change with events' },
  unlogged: {
    actor_json: partly,
    cause_json: hidden,
    diff_json: partly,
    issue_ids_json: hidden,
    writes_sealed_json: 'encrypted',
    grant_id: hidden,
  },
});
