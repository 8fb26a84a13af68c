// Facts of a plugin run for the evidence of a proposal.
import type { Run } from '@tatami/sdk/client';

interface CallCount {
  readonly op: string;
  readonly count: number;
  /** Error codes of failed calls. */
  readonly codes: readonly string[];
}

/** Returns the calls by operation, in the order of the first one, without those that became proposed changes. */
export function callsOf(
  calls: readonly Pick<Run['calls'][number], 'op' | 'code'>[],
  proposed: readonly string[],
): readonly CallCount[] {
  const groups = Map.groupBy(
    calls.filter(({ op }) => !proposed.includes(op)),
    ({ op }) => op,
  );
  return [...groups].map(([op, all]) => ({
    op,
    count: all.length,
    codes: [...new Set(all.flatMap(({ code }) => code ?? []))],
  }));
}

/** Issue of an event, or the name of its object; null for an event without either. */
interface Subject {
  readonly identifier: string | null;
  readonly name: string | null;
}

export function subjectOf(data: object): Subject {
  const { identifier, title, name, issue } = data as Readonly<Record<string, unknown>>;
  const own = textOrNull(identifier);
  if (own !== null) return { identifier: own, name: textOrNull(title) };
  if (typeof issue === 'object' && issue !== null) return subjectOf(issue);
  return { identifier: null, name: textOrNull(title) ?? textOrNull(name) };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const argumentsMax = 300;

/** Returns the arguments of a call without the brackets of their JSON list, cut to a length that a person reads. */
export function argumentsText(args: string): string {
  const inner = args.replace(/^\[/, '').replace(/\]$/, '');
  return inner.length > argumentsMax ? `${inner.slice(0, argumentsMax)}…` : inner;
}
