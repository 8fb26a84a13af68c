// The log of a run, kept to its limits once more: the sidecar that was told them may be anything.
import { plainText } from '../../lib/printable.ts';
import type { RunUsage } from '../job.ts';
import type { LogLevel, RunLimits } from '../protocol.ts';
import type { RunClock } from './time.ts';

export interface RunLog {
  add(level: LogLevel, text: string): void;
  /** All lines; the last says so when some were dropped. */
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
      const message = 'Further log lines were dropped: the run reached its limit.';
      return isCut ? [...logs, { level: 'warn', message, atMs: clock.nowMs }] : logs;
    },
  };
}
