// What a command prints and how it ends: data on stdout, everything else on stderr; `--json` is exactly one JSON value.
import { ApiCallError } from '../../sdk/client/index.ts';
import { ConfigError } from '../config.ts';

/** 75 is EX_TEMPFAIL of sysexits.h: the same command may succeed later. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  loginNeeded: 4,
  tryLater: 75,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const codeOf: Record<ExitCode, string> = {
  0: 'ok',
  1: 'failed',
  2: 'usage',
  4: 'unauthorized',
  75: 'unavailable',
  130: 'interrupted',
};

/** A failure that is the user's to mend: printed without a stack. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode = exitCodes.failed) {
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

export interface Progress {
  /** How far it is; overwrites itself on a terminal, elsewhere only every tenth is printed. */
  show(text: string): void;
  /** A line that stays. */
  note(text: string): void;
  end(): void;
}

export function createProgress(): Progress {
  const { isTTY } = process.stderr;
  let steps = 0;
  return {
    show(text) {
      if (isTTY) process.stderr.write(`\r\u001b[K${text}`);
      else if (steps++ % 10 === 0) say(text);
    },
    note: (text) => say(isTTY ? `\r\u001b[K${text}` : text),
    end: () => void (isTTY && process.stderr.write('\r\u001b[K')),
  };
}

/** Ends the process with what went wrong. */
export function fail(error: unknown, options: { json: boolean }): never {
  const { message, code, exitCode } = describe(error);
  if (options.json) process.stdout.write(`${JSON.stringify({ error: { code, message } })}\n`);
  say(`tatami: ${message}`);
  process.exit(exitCode);
}

function describe(error: unknown): { message: string; code: string; exitCode: ExitCode } {
  if (error instanceof CommandError)
    return { message: error.message, code: codeOf[error.exitCode], exitCode: error.exitCode };
  if (error instanceof ConfigError)
    return { message: error.message, code: 'usage', exitCode: exitCodes.usage };
  if (error instanceof ApiCallError) {
    const fixes = error.details.map(({ path, fix }) => `\n  ${path}: ${fix ?? ''}`).join('');
    return { message: error.message + hintOf(error) + fixes, code: error.code, exitCode: exitCodeOf(error) };
  }
  return {
    message: error instanceof Error ? error.message : String(error),
    code: 'failed',
    exitCode: exitCodes.failed,
  };
}

function exitCodeOf({ status }: ApiCallError): ExitCode {
  if (status === 401) return exitCodes.loginNeeded;
  return [0, 429, 502, 503, 504, 507].includes(status) ? exitCodes.tryLater : exitCodes.failed;
}

function hintOf({ status, code }: ApiCallError): string {
  if (status === 401) return ' Give a valid key with --token or TATAMI_TOKEN.';
  if (code === 'unreachable') return ' Start one with `tatami serve`, or give its address with --server.';
  return '';
}
