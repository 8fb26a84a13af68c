// Formats unexpected errors for the log and system errors for users, ends the process on bugs, and collects
// the current problems of the server. The policy is in docs/architecture.md › When something breaks.
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

/** Public names, for operators, metrics and alerts. */
export const problemKinds = [
  /** The data directory is damaged. */
  'damage',
  /** A file of archived events is unreadable. */
  'archive',
  /** The database accepts no writes. */
  'read_only',
  /** The master key is not the one that sealed the secrets. */
  'key',
  /** The disk is nearly full. */
  'disk',
  /** Files of the data directory were moved or replaced while the server runs. */
  'files_moved',
  /** A consumer of the event log is stuck. */
  'consumer',
  /** Plugins do not run. */
  'plugins',
  /** The last backup failed or is too old. */
  'backup',
  /** The continuous copy lags behind. */
  'copy',
  /** Webhooks and schedules wait for the operator's release after a restore. */
  'held',
] as const;

export type ProblemKind = (typeof problemKinds)[number];

export interface Problem {
  readonly kind: ProblemKind;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
  /** States the problem and what to do; contains no stored data. */
  readonly message: string;
}

/**
 * Current problems of the server. Components report them here; `/readyz`, metrics and alerts publish them.
 */
export interface Problems {
  /** Adds a problem, or replaces the message of an existing one and leaves its start time. */
  raise(kind: ProblemKind, message: string): void;
  clear(kind: ProblemKind): void;
  /** Returns the problems in the order in which they were raised. */
  list(): readonly Problem[];
  /** Calls the listener when a problem is raised (with the problem) or cleared (with null). */
  onChange(listener: (kind: ProblemKind, problem: Problem | null) => void): void;
}

export function createProblems(nowMs: () => number): Problems {
  const problems = new Map<ProblemKind, Problem>();
  const listeners: ((kind: ProblemKind, problem: Problem | null) => void)[] = [];
  const notify = (kind: ProblemKind, problem: Problem | null): void => {
    for (const listener of listeners) listener(kind, problem);
  };
  return {
    raise(kind, message) {
      const known = problems.get(kind);
      const problem = { kind, message, sinceMs: known?.sinceMs ?? nowMs() };
      problems.set(kind, problem);
      if (!known) notify(kind, problem);
    },
    clear(kind) {
      if (problems.delete(kind)) notify(kind, null);
    },
    list: () => [...problems.values()],
    onChange: (listener) => void listeners.push(listener),
  };
}
