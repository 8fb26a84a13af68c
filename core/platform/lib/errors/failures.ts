// Formats unexpected errors for the log and system errors for users, and ends the process on bugs. The policy is in
// docs/architecture.md › When something breaks.
import type { Log } from '../log.ts';

/** Length of the chain of causes, including the first error. */
const causesMax = 6;
/** Maximum number of errors shown of an `AggregateError`. */
const errorsMax = 4;
const framesMax = 12;
const messageCharsMax = 2_000;
const textCharsMax = 16_000;

/** Exit code of a process that ends because of a bug. */
const bugExitCode = 1;

/** Formats a thrown value for the `error` field of a log entry: name, code, message and stack, also of its causes; bounded. */
export function errorForLog(error: unknown): string {
  try {
    return clip(described(error, causesMax).join('\n'), textCharsMax);
  } catch {
    return 'A value was thrown that cannot be converted to text.';
  }
}

/**
 * Ends this process with exit code 1 on an uncaught exception or unhandled rejection, after one log entry with the error. Must be
 * called once, by the owner of the process.
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

/** Returns only the frames: the text before them repeats the message as of the creation of the error. */
function framesOf({ stack }: Error): string[] {
  return (stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, framesMax);
}

function clip(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

/** Messages for system errors that name a path, which they follow. */
const ofPaths: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist, or its directory does not. Check the path.',
  EACCES: 'cannot be accessed by this user. Run the command as another user, or give another path.',
  EPERM: 'cannot be changed by this user. Run the command as another user, or give another path.',
  EEXIST: 'exists and is not a directory. Give another path.',
  ENOTDIR: 'is not inside a directory. Give another path.',
  EISDIR: 'is a directory. Give the path of a file.',
  EROFS: 'is on a read-only file system. Give a path on another one.',
  ENOSPC: 'cannot be written: the disk is full. Free disk space, or give a path on another disk.',
  EDQUOT:
    'cannot be written: the disk quota of this user is used up. Free disk space, or give a path on another disk.',
};

const noMoreFiles = 'The limit of open files is reached. Raise it (LimitNOFILE= in systemd, `ulimit -n`).';

const others: Readonly<Record<string, string>> = {
  EMFILE: noMoreFiles,
  ENFILE: noMoreFiles,
  SQLITE_CANTOPEN:
    'The database cannot be opened. This user needs read and write access to its files, and a sufficient limit of open files (LimitNOFILE= in systemd, `ulimit -n`). Run `tatami doctor` to check both.',
};

/** Message of libsql for a connection that failed with SQLITE_CANTOPEN (14). */
const unopened = /^ConnectionFailed\(.*: 14"\)$/;

/** Returns what to do about a system error; null for an error that is not one or already says what to do. */
export function systemSentence(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = unopened.test(error.message) ? 'SQLITE_CANTOPEN' : 'code' in error ? String(error.code) : '';
  const other = others[code];
  if (other !== undefined) return other;
  const reason = ofPaths[code];
  return reason !== undefined && 'path' in error ? `${String(error.path)} ${reason}` : null;
}
