// Current problems of the server, with their start time. Components report them here; `/readyz`, metrics and alerts publish them.

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
