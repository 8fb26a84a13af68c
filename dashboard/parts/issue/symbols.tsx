// Small symbols of issues. Each has a text alternative, so that no meaning depends on color alone.
import type { Issue } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { text, type Unit } from '../../text/common.ts';
import styles from '../parts.module.css';

type StateType = Issue['state']['type'];
type Priority = Issue['priority'];

/** Filled part of the circle, from 0 to 1; null for a dashed circle. */
const fills: Readonly<Record<StateType, number | null>> = {
  triage: null,
  backlog: null,
  unstarted: 0,
  started: 0.5,
  completed: 1,
  canceled: 0,
  duplicate: 0,
};
const colors: Readonly<Record<StateType, string>> = {
  triage: 'var(--warn)',
  backlog: 'var(--text-soft)',
  unstarted: 'var(--text-soft)',
  started: 'var(--accent)',
  completed: 'var(--good)',
  canceled: 'var(--text-soft)',
  duplicate: 'var(--text-soft)',
};

/** Circumference of a circle of radius 3, whose stroke fills it. */
const around = 2 * Math.PI * 3;

export function StateIcon({ type, name }: { readonly type: StateType; readonly name?: string }): ReactNode {
  const fill = fills[type];
  const isOver = type === 'canceled' || type === 'duplicate';
  return (
    <svg
      className={styles.glyph}
      viewBox="0 0 16 16"
      role="img"
      aria-label={name ?? text.stateTypes[type]}
      color={colors[type]}
    >
      <circle
        cx="8"
        cy="8"
        r="6"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeDasharray={fill === null ? '2.2 2' : undefined}
      />
      {fill !== null && fill > 0 && (
        <circle
          cx="8"
          cy="8"
          r="3"
          fill="none"
          stroke="currentColor"
          strokeWidth="6"
          strokeDasharray={`${fill * around} ${around}`}
          transform="rotate(-90 8 8)"
        />
      )}
      {isOver && <path d="M5.5 5.5l5 5m0-5l-5 5" stroke="currentColor" strokeWidth="1.5" />}
    </svg>
  );
}

/** Lines of the same length as the bars, because a path for each color costs less than a rectangle for each bar. */
const barPaths = ['M3.5 13v-2', 'M8 13v-5.5', 'M12.5 13v-9'];
const bar = { strokeWidth: 3, strokeLinecap: 'round' } as const;
const bars: Readonly<Record<Exclude<Priority, 'urgent'>, number>> = { none: 0, low: 1, medium: 2, high: 3 };

export function PriorityIcon({ priority }: { readonly priority: Priority }): ReactNode {
  return (
    <svg className={styles.glyph} viewBox="0 0 16 16" role="img" aria-label={text.priorities[priority]}>
      {priority === 'urgent' ? (
        <>
          <rect x="1" y="1" width="14" height="14" rx="3" fill="var(--danger)" />
          <path d="M8 4v5m0 2v1.5" stroke="var(--raised)" strokeWidth="2" />
        </>
      ) : (
        <>
          {bars[priority] < 3 && (
            <path d={barPaths.slice(bars[priority]).join('')} stroke="var(--line)" {...bar} />
          )}
          {bars[priority] > 0 && (
            <path d={barPaths.slice(0, bars[priority]).join('')} stroke="var(--text)" {...bar} />
          )}
        </>
      )}
    </svg>
  );
}

export function Avatar({ name }: { readonly name: string }): ReactNode {
  const initials = name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word.slice(0, 1).toUpperCase())
    .join('');
  return (
    <span className={styles.avatar} role="img" aria-label={name} title={name}>
      {initials}
    </span>
  );
}

const units: readonly (readonly [Unit, seconds: number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** @param at RFC 3339 */
export const exactTime = (at: string): string =>
  new Date(at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' });

interface TimeProps {
  /** RFC 3339. */
  readonly at: string;
  readonly className?: string;
}

/** Time relative to now, with the exact time as its title. */
export function Time({ at, className }: TimeProps): ReactNode {
  const seconds = (Date.parse(at) - Date.now()) / 1_000;
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return (
    <time
      dateTime={at}
      className={className}
      // Formatting the exact time for each row of a list would take long, and so does the first use of `Intl`.
      onPointerEnter={({ currentTarget }) => (currentTarget.title = exactTime(at))}
    >
      {text.relativeTime(Math.round(seconds / size), unit)}
    </time>
  );
}
