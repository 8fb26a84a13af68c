// Output and exit of commands: data on stdout, everything else on stderr; `--json` is exactly one JSON value. All commands write through
// this module, so that no control characters of others reach a terminal.
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { ApiCallError } from '../../../../sdk/client/index.ts';
import { ConfigError } from '../../config/settings.ts';
import { createLog, type Log, type LogLevel } from '../../../platform/lib/log.ts';
import { systemSentence } from '../../../platform/lib/errors/failures.ts';
import {
  printable,
  printableCopy,
  printableJson,
  printableLines,
} from '../../../platform/lib/text/printable.ts';

/** 75 is EX_TEMPFAIL of sysexits.h: the same command may succeed later. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** Apart from `usage`, so that scripts can accept differences without accepting errors. */
  differences: 3,
  loginNeeded: 4,
  tryLater: 75,
  interrupted: 130,
  /** As of a program that SIGPIPE ends. */
  brokenPipe: 141,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const codeOf: Record<ExitCode, string> = {
  0: 'ok',
  1: 'failed',
  2: 'usage',
  3: 'differences',
  4: 'unauthorized',
  75: 'unavailable',
  130: 'interrupted',
  141: 'broken_pipe',
};

/** A failure that is the user's to mend: printed without a stack. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  /** Further lines for people, below the message. */
  readonly lines: readonly string[];
  /** Code in the output of `--json`. */
  readonly code: string;
  constructor(
    message: string,
    exitCode: ExitCode = exitCodes.failed,
    {
      lines = [],
      code = codeOf[exitCode],
      ...options
    }: { cause?: unknown; lines?: readonly string[]; code?: string } = {},
  ) {
    super(message, options);
    this.exitCode = exitCode;
    this.lines = lines;
    this.code = code;
  }
}

/**
 * Prints a command's result: the value itself with `--json`, lines for people otherwise.
 * @param lines made of a copy of the value, in which no string holds a line end or another control character
 */
export function printResult<T>(
  value: T,
  options: { json?: boolean | undefined },
  lines: (shown: T) => string,
): void {
  const text = options.json ? printableJson(value) : printableLines(lines(printableCopy(value)));
  process.stdout.write(`${text}\n`);
}

/** Ends the process quietly once nobody reads its output: `tatami issues list --all | head`. */
export function endWithReader(): void {
  process.stdout.on('error', (error: Error & { code?: string }) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe);
    throw error;
  });
}

/** A piece of a file on stdout. */
export async function pour(chunk: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
}

/** A whole file on stdout. */
export async function pourFile(path: string): Promise<void> {
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }))
    await pour(chunk as Uint8Array);
}

/** Columns of the terminal; undefined if stdout is none. */
export const terminalWidth = (): number | undefined => (isTerminal() ? process.stdout.columns : undefined);

/** Prints lines of the program itself, for a shell. */
export const printLines = (lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${line}\n`).join(''));

/** Returns true if stdout is a terminal. */
export const isTerminal = (): boolean => process.stdout.isTTY;

/** A message beside the data. What it quotes is made `printable` first where it might hold a line end. */
export function say(text: string): void {
  process.stderr.write(`${printableLines(text)}\n`);
}

/** A question, without a line end. */
export function ask(text: string): void {
  process.stderr.write(printable(text));
}

/** The log of a server that this command runs. */
export function logHere(level: LogLevel): Log {
  const { stderr } = process;
  return createLog({
    write: (line) => void stderr.write(line),
    nowMs: Date.now,
    after: (delayMs, run) => void setTimeout(run, delayMs).unref(),
    pretty: stderr.isTTY,
    level,
  });
}

export interface CommandProgress {
  /** Prints progress: one updated line on a terminal, otherwise a line every few seconds. */
  show(text: string): void;
  /** Prints a permanent line. */
  note(text: string): void;
  end(): void;
}

const lineEveryMs = 5_000;
const clearLine = '\r\u001b[K';

export function createProgress(): CommandProgress {
  const { isTTY } = process.stderr;
  let printedMs = Number.NEGATIVE_INFINITY;
  let shown = '';
  return {
    show(text) {
      if (text === shown) return;
      shown = text;
      if (isTTY) process.stderr.write(clearLine + printable(text));
      else if (performance.now() - printedMs >= lineEveryMs) {
        printedMs = performance.now();
        say(printable(text));
      }
    },
    note: (text) => void process.stderr.write(`${isTTY ? clearLine : ''}${printable(text)}\n`),
    end: () => void (isTTY && process.stderr.write(clearLine)),
  };
}

/** Ends the process with what went wrong. */
export function fail(error: unknown, options: { json: boolean }): never {
  const { message, code, exitCode } = describe(error, (quoted) => quoted);
  if (options.json) process.stdout.write(`${printableJson({ error: { code, message } })}\n`);
  // Whoever sees both reads it once.
  if (!options.json || !isTerminal() || !process.stderr.isTTY)
    say(`tatami: ${describe(error, printable).message}`);
  process.exit(exitCode);
}

interface Failure {
  message: string;
  code: string;
  exitCode: ExitCode;
}

/** @param quote applied to what others wrote, which the lines of a message are made of */
function describe(error: unknown, quote: (text: string) => string): Failure {
  const message = quote(systemSentence(error) ?? (error instanceof Error ? error.message : String(error)));
  if (error instanceof CommandError)
    return {
      message: [message, ...error.lines.map(quote)].join('\n'),
      code: error.code,
      exitCode: error.exitCode,
    };
  if (error instanceof ConfigError) return { message, code: 'usage', exitCode: exitCodes.usage };
  if (error instanceof ApiCallError) {
    return { message: wordsOf(error, quote), code: error.code, exitCode: exitCodeOf(error) };
  }
  return { message, code: 'failed', exitCode: exitCodes.failed };
}

/** The message, and of the details those that it does not say already. */
function wordsOf(error: ApiCallError, quote: (text: string) => string): string {
  const { message, details } = error;
  const lines = details
    .filter(({ path, fix = path }) => !message.includes(fix))
    .map(({ path, issue, fix = issue }) => `\n  ${quote(`${path}: ${fix}`)}`);
  return quote(message) + hintOf(error) + lines.join('');
}

function exitCodeOf({ status }: ApiCallError): ExitCode {
  if (status === 401) return exitCodes.loginNeeded;
  return [0, 429, 502, 503, 504, 507].includes(status) ? exitCodes.tryLater : exitCodes.failed;
}

/** The same command may succeed later. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ApiCallError && exitCodeOf(error) === exitCodes.tryLater;

function hintOf({ status, code }: ApiCallError): string {
  if (status === 401)
    return ' Log in with `tatami login`, or pass a valid API key with --token or TATAMI_TOKEN.';
  if (code === 'unreachable') return ' Start it with `tatami serve`, or set another address with --server.';
  return '';
}
