// Cost of transactional runs: recording, proposals, serializable isolation and backtests, one file each.
import type { Findings } from '../report.ts';
import type { Effort } from '../rounds.ts';
import { backtests } from './transactions/backtests.ts';
import { proposing, serializable } from './transactions/modes.ts';
import { recording } from './transactions/recording.ts';

/** Each row starts its own servers, so that one does not disturb another. */
const rows: readonly ((effort: Effort) => Promise<Findings>)[] = [
  recording,
  proposing,
  serializable,
  backtests,
];

export async function transactions(effort: Effort): Promise<Findings> {
  const all: Findings[] = [];
  for (const row of rows) all.push(await row(effort));
  return {
    ratios: all.flatMap(({ ratios = [] }) => ratios),
    figures: all.flatMap(({ figures = [] }) => figures),
  };
}
