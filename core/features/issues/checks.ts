import { equal, fact, fieldValuesFact, timeOf, type SpecialFacts } from '../../kernel/checks.ts';
import { priorities } from './contract.ts';

export const issueFacts: SpecialFacts = {
  issue: (references) => [
    equal('priority', 'priority', ({ priority }) =>
      priorities.toReversed().indexOf(priority as (typeof priorities)[number]),
    ),
    // Comments and attachments update this column without a new version.
    fact(
      'updatedAt',
      ['updated_at'],
      (row, { data }) => Number(row.updated_at) >= Number(timeOf(data.updatedAt)),
    ),
    fieldValuesFact(references),
  ],
};
