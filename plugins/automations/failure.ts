// Errors of a run, for people who read its record.
import { Drop, PluginError } from '@tatami/sdk/plugin';

/** Errors that another attempt can repeat only with the same result. */
const permanent: ReadonlySet<string> = new Set([
  ...['validation_failed', 'not_found', 'conflict', 'forbidden', 'insufficient_scope', 'egress_denied'],
  ...['transition_not_allowed', 'budget_exceeded'],
]);

/**
 * Performs a part of a rule, and names it in an error. Permanent errors end the run without another attempt.
 * @throws Drop, PluginError
 */
export async function failing<Result>(part: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw namedError(part, error);
  }
}

/** Returns an error of a call with the part of the rule that made it, and other errors unchanged. */
export function namedError(part: string, error: unknown): unknown {
  if (!(error instanceof PluginError) || error instanceof Drop) return error;
  const message = `${part}: ${error.message}`;
  return permanent.has(error.code) ? new Drop(message) : new PluginError(message, error.code);
}
