// What goes wrong unforeseen: how an error is told to the log, and which errors end the process.
// The policy, and why it is so, is in docs/architecture.md › When something breaks.
import type { Log } from './log.ts';

/** Errors below one another, the first included. */
const causesMax = 6;
/** Of an `AggregateError`. */
const errorsMax = 4;
const framesMax = 12;
const messageCharsMax = 2_000;
const textCharsMax = 16_000;

/** The code that a process ends with when a bug ends it. */
const bugExitCode = 1;

/** What was thrown, for the `error` field of a log entry: name, code, message and stack, and the same of each cause; bounded. */
export function errorForLog(error: unknown): string {
  try {
    return clip(described(error, causesMax).join('\n'), textCharsMax);
  } catch {
    return 'Something was thrown that cannot be read.';
  }
}

/**
 * Ends this process, with exit code 1, on an exception that nobody caught and on a rejection that nobody handles; the log gets
 * one entry with the error. To be called once, by whoever owns the process.
 */
export function endProcessOnBug(log: Log): void {
  const end = (what: string, error: unknown): never => {
    try {
      log('error', `${what}; the process ends`, { error: errorForLog(error) });
    } finally {
      process.exit(bugExitCode);
    }
  };
  process.on('uncaughtException', (error) => end('an exception was not caught', error));
  process.on('unhandledRejection', (reason) => end('a rejection was not handled', reason));
}

function described(error: unknown, causesLeft: number): string[] {
  if (!(error instanceof Error)) return [clip(String(error), messageCharsMax)];
  const lines = [headOf(error), ...framesOf(error)];
  if (error instanceof AggregateError)
    for (const one of error.errors.slice(0, errorsMax))
      lines.push(...below('together with', one, causesLeft));
  if (error.cause !== undefined) lines.push(...below('caused by', error.cause, causesLeft));
  return lines;
}

function below(relation: string, error: unknown, causesLeft: number): string[] {
  if (causesLeft <= 1) return ['…'];
  const [head = '', ...rest] = described(error, causesLeft - 1);
  return [`${relation} ${head}`, ...rest];
}

function headOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return `${error.name}${code}: ${clip(error.message, messageCharsMax)}`;
}

/** Only the frames: what stands before them repeats the message, as it was when the error was made. */
function framesOf({ stack }: Error): string[] {
  return (stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, framesMax);
}

function clip(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
