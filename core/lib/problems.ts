// What is wrong with the server right now, and since when: whoever finds something out says it here, and `/readyz`, the metrics and the
// alerts tell it on.

/** Told to operators, metrics and alerts by these names. */
export const problemKinds = [
  /** The data directory is damaged. */
  'damage',
  /** A file of old events cannot be read. */
  'archive',
  /** The database takes no writes. */
  'read_only',
  /** The master key is not the one that secrets were sealed with. */
  'key',
  /** The disk is full soon. */
  'disk',
  /** The files of the data directory were moved or replaced under the running server. */
  'files_moved',
  /** Events wait for work that does not get on. */
  'consumer',
  /** Plugins do not run. */
  'plugins',
  /** The last backup failed, or is too old. */
  'backup',
  /** The continuous copy does not keep up. */
  'copy',
  /** Webhooks and schedules wait for the operator's word after a restore. */
  'held',
] as const;

export type ProblemKind = (typeof problemKinds)[number];

export interface Problem {
  readonly kind: ProblemKind;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Says what it is and what to do; holds nothing of what is stored. */
  readonly message: string;
}

export interface Problems {
  /** It is there from now on, or still; a new message replaces the old one and leaves the time. */
  raise(kind: ProblemKind, message: string): void;
  clear(kind: ProblemKind): void;
  /** In the order in which they came. */
  list(): readonly Problem[];
  /** Called when one comes (with it) or goes. */
  onChange(listener: (kind: ProblemKind, problem: Problem | null) => void): void;
}

export function createProblems(nowMs: () => number): Problems {
  const problems = new Map<ProblemKind, Problem>();
  const listeners: ((kind: ProblemKind, problem: Problem | null) => void)[] = [];
  const tell = (kind: ProblemKind, problem: Problem | null): void => {
    for (const listener of listeners) listener(kind, problem);
  };
  return {
    raise(kind, message) {
      const known = problems.get(kind);
      const problem = { kind, message, sinceMs: known?.sinceMs ?? nowMs() };
      problems.set(kind, problem);
      if (!known) tell(kind, problem);
    },
    clear(kind) {
      if (problems.delete(kind)) tell(kind, null);
    },
    list: () => [...problems.values()],
    onChange: (listener) => void listeners.push(listener),
  };
}
