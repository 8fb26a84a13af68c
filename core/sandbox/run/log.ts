// Collects the log of a run and enforces its limits again, because the sidecar is untrusted.
import { plainText } from '../../lib/printable.ts';
import type { RunUsage } from '../job.ts';
import type { GuestLogLevel, RunLimits } from '../protocol.ts';
import type { RunClock } from './time.ts';

export interface RunLog {
  add(level: GuestLogLevel, text: string): void;
  /** Returns all lines; the last one is a notice if lines were dropped. */
  lines(): RunUsage['logs'];
}

export function createRunLog({ logLines, logBytes }: RunLimits, clock: RunClock): RunLog {
  const logs: RunUsage['logs'] = [];
  let bytes = 0;
  let isCut = false;
  return {
    add(level, text) {
      if (logs.length >= logLines || bytes >= logBytes) {
        isCut = true;
        return;
      }
      const message = plainText(text).slice(0, logBytes - bytes);
      bytes += message.length;
      logs.push({ level, message, atMs: clock.nowMs });
    },
    lines() {
      const message =
        'Further log lines were dropped, because the run reached its log limit. Log less per run.';
      return isCut ? [...logs, { level: 'warn', message, atMs: clock.nowMs }] : logs;
    },
  };
}
