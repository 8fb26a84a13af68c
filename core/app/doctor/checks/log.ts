import { existsSync } from 'node:fs';
import { readLogHead } from '../../../platform/store/log-head.ts';
import { error, some, type Check, type Finding } from '../check.ts';

export const log: Check = {
  name: 'log',
  holds: 'the event log is complete and matches the log head',
  readsDatabase: true,
  look({ rows, path, servedBy }) {
    const findings: Finding[] = [];
    const incomplete = rows<{ workspace_id: string; events: number; first: number; last: number }>(
      `SELECT workspace_id, count(*) AS events, min(sequence) AS first, max(sequence) AS last FROM events
       GROUP BY workspace_id HAVING last - first + 1 <> events`,
    );
    if (incomplete.length > 0)
      findings.push(
        error(
          `Events are missing from the log of the workspace ${some(incomplete.map(({ workspace_id: id }) => id))}. Restore a backup.`,
        ),
      );

    const [inside] = rows<{ position: number; hash: string }>(
      'SELECT position, hash FROM log_head WHERE id = 1',
    );
    if (!inside)
      return [
        ...findings,
        error('The database has no log head, so it was not created by Tatami. Restore a backup.'),
      ];
    if (!existsSync(path.logHead))
      return [
        ...findings,
        error(`${path.logHead} is missing, so lost writes cannot be detected. Restore a backup.`),
      ];
    const outside = readLogHead(path.logHead);
    // A running server may have written after the database was read.
    const lost =
      servedBy === null &&
      (inside.position < outside.position ||
        (inside.position === outside.position && inside.hash !== outside.hash));
    if (lost)
      findings.push(
        error(
          `Acknowledged writes are lost: the database ends at commit ${inside.position}, but commit ${outside.position} was acknowledged. Restore a backup.`,
          'accept',
        ),
      );
    return findings;
  },
};
