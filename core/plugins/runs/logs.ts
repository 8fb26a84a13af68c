// Log lines as the record of a run shows them: stacks of logged errors name the author's lines. The recording keeps them as they were
// written, because a replay compares them.
import { plainText } from '../../lib/printable.ts';
import type { RunUsage } from '../../sandbox/supervisor.ts';
import type { Scope } from '../../store/store.ts';
import type { Registry } from '../registry.ts';
import { hasPlaces, withStacks } from '../source-places.ts';
import type { Attempt } from './attempt.ts';

type Logs = RunUsage['logs'];

/** @param logs of the attempt. Those without places are returned as they are, and no source map is read. */
export async function withAuthorPlaces(
  registry: Pick<Registry, 'places'>,
  scope: Scope,
  { install, job }: Pick<Attempt, 'install' | 'job'>,
  logs: Logs,
): Promise<Logs> {
  if (!logs.some(({ message }) => hasPlaces(message))) return logs;
  const find = await registry.places(scope, install.sha256);
  // Names of files may be longer than the places that they replace: the log stays within its limit.
  let left = job.limits.logBytes;
  return logs.map((line) => {
    const text = hasPlaces(line.message) ? plainText(withStacks(line.message, find)) : line.message;
    const message = text === line.message ? text : text.slice(0, Math.max(left, 0));
    left -= message.length;
    return { ...line, message };
  });
}
