// Report of an import: created objects, and omitted data by reason. Every omission is counted.
import { counted } from '../../../platform/lib/text/words.ts';

export interface Report {
  created: number;
  /** Issues that were there already, or stand twice in the file. */
  skipped: number;
  failed: number;
  /** Rows of which title or body was shortened to what an issue holds. */
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

export function emptyReport(): Report {
  const made = { teams: 0, labels: 0, projects: 0, milestones: 0, cycles: 0 };
  const linked = { parents: 0, relations: 0, comments: 0 };
  return {
    created: 0,
    skipped: 0,
    failed: 0,
    cut: 0,
    undated: 0,
    renumbered: 0,
    ...made,
    ...linked,
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
