// Progress and report of an import: created objects, and omitted data by reason. Every omission is counted.
import type { Call } from '../../../../sdk/client/index.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import type { RowReporter } from './formats/row.ts';

export interface Report {
  created: number;
  /** Issues that existed already, or are in the file twice. */
  skipped: number;
  failed: number;
  /** Rows with a shortened title or body. */
  cut: number;
  /** Rows whose `created_at` is invalid or in the future; their issues get the time of the import. */
  undated: number;
  /** Issues that got another number because their own is taken. */
  renumbered: number;
  /** Created objects other than issues. */
  teams: number;
  labels: number;
  projects: number;
  milestones: number;
  cycles: number;
  parents: number;
  relations: number;
  comments: number;
  /** Number of omissions by description. */
  left: Record<string, number>;
}

/** Server, source and report of an import, which all of its parts use. */
export interface ImportContext {
  readonly call: Call;
  readonly source: string;
  readonly report: Report;
  /** Prints a line; called once for each name that does not exist on the server. */
  note(text: string): void;
  /** Counts each row of which something is omitted. */
  readonly left: RowReporter['left'];
  /** Other ids by which rows name each other → external id. */
  readonly names: Map<string, string>;
  /** People of `--people`: key of the person in the source → id of the member. */
  readonly people: ReadonlyMap<string, string>;
}

export function emptyReport(): Report {
  return {
    created: 0,
    skipped: 0,
    failed: 0,
    cut: 0,
    undated: 0,
    renumbered: 0,
    teams: 0,
    labels: 0,
    projects: 0,
    milestones: 0,
    cycles: 0,
    parents: 0,
    relations: 0,
    comments: 0,
    left: {},
  };
}

const undatedHint = ' (delete these before you import the corrected rows, which count as new issues)';

export function summary(file: string, report: Report): string {
  const { created, skipped, failed, cut, undated, renumbered } = report;
  const rows = [
    `${created} created`,
    `${skipped} already present`,
    `${failed} failed`,
    ...(cut > 0 ? [`${cut} shortened`] : []),
    ...(undated > 0 ? [`${undated} without a time${undatedHint}`] : []),
    ...(renumbered > 0 ? [`${renumbered} with a new number`] : []),
  ];
  const made = madeIn(report);
  const left = Object.entries(report.left).sort(([, a], [, b]) => b - a);
  return [
    `${file}: ${rows.join(', ')}`,
    ...(made.length > 0 ? [`also created ${made.join(', ')}`] : []),
    ...(left.length > 0
      ? [`not imported: ${left.map(([what, count]) => `${what} (${count})`).join(', ')}`]
      : []),
  ].join('\n');
}

function madeIn(report: Report): string[] {
  return (
    ['teams', 'labels', 'projects', 'milestones', 'cycles', 'parents', 'relations', 'comments'] as const
  )
    .filter((what) => report[what] > 0)
    .map((what) => counted(report[what], what.slice(0, -1)));
}

/** A pace is told from here on (milliseconds): before, it says more of the start than of the work. */
const settledMs = 1_000;

/** @param done of `total`, which is an estimate @param tookMs since the start */
export function paceText(done: number, total: number, tookMs: number): string {
  const known = Math.max(done, total);
  const parts = [`${count(done)} of ${count(known)}`];
  if (tookMs >= settledMs && done > 0) {
    const perSecond = (done * 1000) / tookMs;
    parts.push(`${count(Math.round(perSecond))}/s`);
    if (done < known) parts.push(`${duration((known - done) / perSecond)} left`);
  }
  return parts.join(', ');
}

function count(number: number): string {
  return number.toLocaleString('en');
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
