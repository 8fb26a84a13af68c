import { statSync } from 'node:fs';
import { error, warning, type Check, type Finding } from '../check.ts';

const tolerancesMs = 120_000;

export const clock: Check = {
  name: 'clock',
  holds: 'the clock is not behind the newest event',
  readsDatabase: true,
  look({ rows, path, nowMs }) {
    const findings: Finding[] = [];
    const [newest] = rows<{ at: number | null }>('SELECT max(created_at) AS at FROM events');
    const aheadMs = (newest?.at ?? 0) - nowMs;
    if (aheadMs > tolerancesMs)
      findings.push(
        error(
          `The clock of this machine is ${spoken(aheadMs)} behind the newest event. Correct it (timedatectl set-ntp true): schedules, expiry and signatures depend on it.`,
        ),
      );
    const writtenMs = statSync(path.database).mtimeMs - nowMs;
    if (aheadMs <= tolerancesMs && writtenMs > tolerancesMs)
      findings.push(
        warning(
          `The database file was written ${spoken(writtenMs)} in the future. The clock was set back; correct it (timedatectl set-ntp true).`,
        ),
      );
    return findings;
  },
};

function spoken(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1440)} days`;
}
