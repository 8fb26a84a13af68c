// Maps stacks in log lines to the author's source for the record of a run. The recording retains the original
// lines, because a replay compares them.
import { plainText } from '../../lib/printable.ts';
import type { RunUsage } from '../../sandbox/supervisor.ts';
import type { Scope } from '../../store/store.ts';
import type { Registry } from '../registry.ts';
import { hasBundlePositions, withStacks } from '../source-positions.ts';
import type { RunAttempt } from './attempt.ts';

type Logs = RunUsage['logs'];

/** Lines without bundle positions are unchanged, and the source map is read only if needed. */
export async function withAuthorPositions(
  registry: Pick<Registry, 'sourceMapLookup'>,
  scope: Scope,
  { install, job }: Pick<RunAttempt, 'install' | 'job'>,
  logs: Logs,
): Promise<Logs> {
  if (!logs.some(({ message }) => hasBundlePositions(message))) return logs;
  const find = await registry.sourceMapLookup(scope, install.sha256);
  // Source names can be longer than the places they replace, so the text is cut to the log limit again.
  let left = job.limits.logBytes;
  return logs.map((line) => {
    const text = hasBundlePositions(line.message) ? plainText(withStacks(line.message, find)) : line.message;
    const message = text === line.message ? text : text.slice(0, Math.max(left, 0));
    left -= message.length;
    return { ...line, message };
  });
}
