// `tatami doctor`: looks at a data directory and what serving it needs, and changes nothing; `tatami doctor fix` mends one thing.
import { resolve } from 'node:path';
import { readConfig } from '../config/config.ts';
import type { Flags } from '../config/settings.ts';
import { examine, type Checked } from '../doctor/doctor.ts';
import { systemClock } from '../../platform/lib/time/clock.ts';
import { mend } from '../doctor/mend.ts';
import { openSubject } from '../doctor/subject.ts';
import { createProgress, exitCodes, printResult } from './lib/output.ts';

export interface DoctorOptions extends Flags {
  json?: boolean;
}

const signs = { note: '·', warning: '!', error: '✗' } as const;

/** @param folder where a relative data directory begins */
export async function doctor({ json, ...flags }: DoctorOptions, folder: string): Promise<void> {
  const config = readConfig(flags, undefined, folder);
  const subject = openSubject(config, systemClock.nowMs());
  const progress = createProgress();
  const results = await examine(subject, ({ check }) => progress.show(`Checked ${check}`)).finally(
    subject.close,
  );
  progress.end();
  const isWell = !results.some(
    ({ findings, skipped }) => skipped === 'damaged' || findings.some(({ level }) => level === 'error'),
  );
  printResult(
    { dataDir: config.dataDir, servedBy: subject.servedBy, isWell, checks: results },
    { json },
    (shown) =>
      [
        ...shown.checks.flatMap(linesOf),
        '',
        shown.isWell ? 'No errors found.' : 'Errors found. Follow the instructions of each ✗ line.',
      ].join('\n'),
  );
  if (!isWell) process.exitCode = exitCodes.failed;
}

export interface FixOptions extends DoctorOptions {
  backup?: string;
  yes?: boolean;
  altered?: boolean;
}

/** `tatami doctor fix ID`: mends one thing. */
export async function fix(
  id: string,
  { json, backup, yes = false, altered = false, ...flags }: FixOptions,
  folder: string,
): Promise<void> {
  const config = readConfig(flags, undefined, folder);
  const subject = openSubject(config, systemClock.nowMs());
  const done = await mend(subject, id, {
    backup: backup === undefined ? null : resolve(folder, backup),
    yes,
    altered,
  }).finally(subject.close);
  printResult({ dataDir: config.dataDir, fix: id, done }, { json }, (shown) => `${shown.fix}: ${shown.done}`);
}

function linesOf({ check, holds, findings, skipped }: Checked): string[] {
  if (skipped) return [`  ? ${check}: skipped, because the database is ${skipped}`];
  if (findings.length === 0) return [`  ✓ ${check}: ${holds}`];
  return findings.map(
    ({ level, message, fix }) =>
      `  ${signs[level]} ${check}: ${message}${fix === undefined ? '' : ` Repair it with \`tatami doctor fix ${fix}\`.`}`,
  );
}
