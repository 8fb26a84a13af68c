// Errors of runs: their codes and messages, with places in the author's source.
import { plainText } from '../../../platform/lib/text/printable.ts';
import type { SandboxOutcome } from '../../../platform/sandbox/supervisor.ts';
import { traitsOf } from '../planning/limits.ts';
import { positionText, readStack, withSourcePositions, type SourceMapLookup } from '../source-positions.ts';
import type { RunRow } from './rows.ts';

/** Failure of a run: the reason, and the place in the author's source. */
export interface RunError {
  readonly code: string;
  readonly message: string;
  /** Place in the author's source, such as `plugin.ts:14:9`; absent if the stack has none. */
  readonly at?: string;
  /** Frames of the plugin's code, innermost first. */
  readonly stack?: readonly string[];
  /** True if the data of the run was removed with a purged issue. */
  readonly purged?: true;
}

/**
 * Returns the error of a run that ends before its next attempt: the reason, with the error of its last
 * attempt.
 */
export function endedError({ error_json: last }: RunRow, reason: RunError): RunError {
  if (last === null) return reason;
  const { code, message, ...where } = JSON.parse(last) as RunError;
  return { ...reason, message: `${reason.message} The last attempt failed (${code}): ${message}`, ...where };
}

export type FailedOutcome = Extract<SandboxOutcome, { status: 'failed' }>;

/** Reasons that concern a limit and no line of the source, so the message names the handler. */
const limits: ReadonlySet<FailedOutcome['reason']> = new Set([
  'cpu',
  'wall',
  'memory',
  'call_budget',
  'killed',
]);

export function runErrorOf(
  { reason, message, stack }: FailedOutcome,
  run: RunRow,
  find: SourceMapLookup,
): RunError {
  const { at, frames } = readStack(stack, find);
  const handler = `${traitsOf[run.handler_kind].title} ${run.handler}: `;
  const text = withSourcePositions((limits.has(reason) ? handler : '') + message, find);
  return {
    code: reason,
    message: plainText(text),
    ...(at ? { at: plainText(positionText(at)) } : {}),
    ...(frames.length > 0 ? { stack: frames.map(plainText) } : {}),
  };
}
