// Checks numbers given by an import: the team must never have used them. All conflicts are reported at once,
// so that a bulk import can omit them.
import type { Context } from '../../context.ts';
import { ApiError, type ErrorDetail } from '../../lib/errors.ts';
import { tenantStatement } from '../../store/statement.ts';
import type { Issue } from './kind.ts';

const taken = tenantStatement<{ at: number }>(
  'issues.numbers_taken',
  `SELECT w.key AS at FROM json_each(:wanted) AS w
   WHERE EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = :ws
       AND i.team_id = w.value ->> 'teamId' AND i.number = w.value ->> 'number')
     OR EXISTS (SELECT 1 FROM former_identifiers AS f WHERE f.workspace_id = :ws
       AND f.team_id = w.value ->> 'teamId' AND f.number = w.value ->> 'number')
   ORDER BY w.key`,
);

type Numbered = Pick<Issue, 'teamId' | 'number'>;

/**
 * @param issues issues of the request; without a number if the commit assigns it
 * @param pathOf returns the path of the number of the nth issue
 * @throws ApiError validation_failed (already_exists)
 */
export async function requireFreeNumbers(
  { store, scope, directory }: Context,
  issues: readonly Numbered[],
  pathOf: (index: number) => string,
): Promise<void> {
  const wanted = issues.flatMap(({ teamId, number }, index) =>
    number === null ? [] : [{ teamId, number, path: pathOf(index) }],
  );
  if (wanted.length === 0) return;
  const rows = await store.read(scope, taken, { wanted: JSON.stringify(wanted) });
  const called = new Set(rows.map(({ at }) => at));
  const seen = new Set<string>();
  const details = wanted.flatMap(({ teamId, number, path }, at): ErrorDetail[] => {
    const name = `${directory.teams.get(teamId)?.key ?? ''}-${number}`;
    const isFree = !called.has(at) && !seen.has(name);
    seen.add(name);
    const fix = `Leave the number out: ${name} is or was the identifier of another issue.`;
    return isFree ? [] : [{ path, issue: 'already_exists', fix }];
  });
  const [first] = details;
  if (first) throw new ApiError('validation_failed', `${first.path}: ${first.fix}`, { details });
}
