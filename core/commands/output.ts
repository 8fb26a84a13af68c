// What a command prints and how it ends: data on stdout, everything else on stderr; `--json` is exactly one JSON value.
import { ApiCallError } from '../../sdk/client/index.ts';
import { ConfigError } from '../config.ts';

/** Experience › Conventions, Exit codes. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  loginNeeded: 4,
  tryLater: 75,
  interrupted: 130,
} as const;

/** A failure that is the user's to mend: printed without a stack. */
export class CommandError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Prints a command's result: the value itself with `--json`, lines for people otherwise. */
export function printResult(
  value: unknown,
  options: { json?: boolean | undefined },
  lines: () => string,
): void {
  process.stdout.write(options.json ? `${JSON.stringify(value)}\n` : `${lines()}\n`);
}

/** A message beside the data. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Progress that overwrites itself on a terminal and is silent elsewhere but for every tenth step. */
export function progress(): (text: string) => void {
  let steps = 0;
  return (text) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
    else if (steps++ % 10 === 0) say(text);
  };
}

/** Ends the process with what went wrong. */
export function fail(error: unknown, json: boolean): never {
  const { message, code, exitCode } = describe(error);
  if (json) process.stdout.write(`${JSON.stringify({ error: { code, message } })}\n`);
  say(`tatami: ${message}`);
  process.exit(exitCode);
}

function describe(error: unknown): { message: string; code: string; exitCode: number } {
  if (error instanceof CommandError)
    return { message: error.message, code: 'failed', exitCode: error.exitCode };
  if (error instanceof ConfigError)
    return { message: error.message, code: 'usage', exitCode: exitCodes.usage };
  if (error instanceof ApiCallError) {
    const fixes = error.details.map(({ path, fix }) => `\n  ${path}: ${fix ?? ''}`).join('');
    const exitCode =
      error.status === 401
        ? exitCodes.loginNeeded
        : error.status === 0 || error.status === 429 || error.status === 503
          ? exitCodes.tryLater
          : exitCodes.failed;
    const hint = error.status === 401 ? ' Give a key with --token or TATAMI_TOKEN.' : '';
    return { message: `${error.message}${hint}${fixes}`, code: error.code, exitCode };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { message, code: 'failed', exitCode: exitCodes.failed };
}
