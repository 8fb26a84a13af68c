// Words errors of the API in terms of flags.
import { ApiCallError, type CallErrorDetail } from '../../../../sdk/client/index.ts';
import { CommandError, exitCodes } from '../lib/output.ts';
import type { Operation } from './table/operation.ts';

const inputCodes = new Set(['validation_failed', 'invalid_cursor', 'malformed_request']);

/** Returns the error with the flags at fault in place of the fields, and the exit code for wrong usage. */
export function flagError(error: unknown, operation: Pick<Operation, 'flags' | 'args'>): unknown {
  if (!(error instanceof ApiCallError) || !inputCodes.has(error.code)) return error;
  const { message, details, code } = error;
  const [first, ...others] = details;
  const options = { cause: error, code };
  if (!first) return new CommandError(message, exitCodes.usage, options);
  const said = message.replace(/ \(and \d+ more\)$/, '');
  const worded = said.startsWith(`${first.path}: `)
    ? `${placeOf(first, operation)}: ${said.slice(first.path.length + 2)}`
    : said;
  const lines = others
    .filter(({ path, fix = path }) => !said.includes(fix))
    .map((detail) => `${placeOf(detail, operation)}: ${detail.fix ?? detail.issue}`);
  return new CommandError(worded, exitCodes.usage, { ...options, lines });
}

/** `--title`; for a part of a value, `--columns, at 2.value`. */
function placeOf({ path }: CallErrorDetail, { flags, args }: Pick<Operation, 'flags' | 'args'>): string {
  const [name = '', ...rest] = path.replace(/^(body|query|params)\./, '').split('.');
  const flag = flags.find(({ key, also }) => key === name || also?.includes(name));
  if (flag) return rest.length === 0 ? `--${flag.name}` : `--${flag.name}, at ${rest.join('.')}`;
  return args.find(({ key }) => key === name)?.label ?? path;
}
