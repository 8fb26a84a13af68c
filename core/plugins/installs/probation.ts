// Probation: the first runs of a new install propose what they would write, so that a person has seen what it does before it does it.
import { systemAuthor, type Committer } from '../../changes/commit.ts';
import type { Directory } from '../../context.ts';
import { tenantStatement, type Row } from '../../store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../store/store.ts';
import { installKind, type Install } from './schema.ts';

const countDown = tenantStatement(
  'plugins.count_down_probation',
  `UPDATE plugins SET probation_left = probation_left - 1 WHERE workspace_id = :ws AND id = :id AND probation_left > 1`,
);
const findNow = tenantStatement<Row>(
  'plugins.find_now',
  `SELECT ${installKind.select} FROM plugins WHERE workspace_id = :ws AND id = :id`,
);

export interface ProbationOptions {
  readonly store: Store;
  readonly committer: Committer;
  readonly clock: { nowMs(): number };
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}

/** What a run that has something to write means for the probation of its install. */
export interface ProbationStep {
  /** For the batch that ends the run. */
  readonly ops: readonly Op[];
  /** Once that is committed. */
  done(): Promise<void>;
}

const noStep: ProbationStep = { ops: [], done: () => Promise.resolve() };

/** Of an install as it was when the run began: the database has counted on meanwhile. */
export async function probationStep(
  options: ProbationOptions,
  scope: Scope,
  { id, probationLeft }: Install,
): Promise<ProbationStep> {
  if (probationLeft === 0) return noStep;
  const row = await options.store.readOne(scope, findNow, { id });
  const install = row && installKind.fromRow(row);
  if (!install || install.probationLeft === 0) return noStep;
  if (install.probationLeft > 1) return { ...noStep, ops: [tenantOp(scope, countDown, { id })] };
  return { ops: [], done: () => endProbation(options, scope, install) };
}

/** The last run has made it an install like any other. */
async function endProbation(options: ProbationOptions, scope: Scope, install: Install): Promise<void> {
  const change = installKind.update(install, { probationLeft: 0 }, options.clock.nowMs());
  const author = systemAuthor(scope, 'plugins', await options.directoryOf(scope));
  // Where somebody changed the install meanwhile, its next run is the last one.
  if (change) await options.committer.commit(author, [change], [], []);
}
