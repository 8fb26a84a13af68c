import { existsSync } from 'node:fs';
import { readLogHead } from '../../store/log-head.ts';
import { error, some, type Check, type Finding } from '../check.ts';

export const log: Check = {
  name: 'log',
  holds: 'the event log has no gap, and ends where the head of the log says',
  readsDatabase: true,
  look({ rows, path, servedBy }) {
    const findings: Finding[] = [];
    const gaps = rows<{ workspace_id: string; events: number; first: number; last: number }>(
      `SELECT workspace_id, count(*) AS events, min(sequence) AS first, max(sequence) AS last FROM events
       GROUP BY workspace_id HAVING last - first + 1 <> events`,
    );
    if (gaps.length > 0)
      findings.push(
        error(`Events are missing from the log of ${some(gaps.map(({ workspace_id: id }) => id))}.`),
      );

    const [inside] = rows<{ position: number; hash: string }>(
      'SELECT position, hash FROM log_head WHERE id = 1',
    );
    if (!inside) return [...findings, error('The database has no log head: it was not made by Tatami.')];
    if (!existsSync(path.logHead))
      return [
        ...findings,
        error(
          `${path.logHead} is missing, so nothing tells whether the database ends where it ended. Restore a backup.`,
        ),
      ];
    const outside = readLogHead(path.logHead);
    // A server that writes is ahead of what was read a moment ago.
    const lost =
      servedBy === null &&
      (inside.position < outside.position ||
        (inside.position === outside.position && inside.hash !== outside.hash));
    if (lost)
      findings.push(
        error(
          `The database ends at commit ${inside.position}, and commit ${outside.position} was acknowledged: acknowledged writes are lost. Restore a backup.`,
          'accept',
        ),
      );
    return findings;
  },
};
