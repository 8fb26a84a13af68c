// `tatami import`: brings issues from a CSV file into teams through the public API. Running it again adds nothing: each issue
// carries the hash of its row as its external id, and what the server has already is skipped. So an import that was cut
// short is finished by running it again.
import { basename } from 'node:path';
import { counted } from '../../lib/counted.ts';
import { createProgress, exitCodes, printResult, type Progress } from '../output.ts';
import { connect, type RemoteOptions } from '../remote.ts';
import { fitDescription, fitTitle, teamKeyOf } from './fit.ts';
import { paceText } from './pace.ts';
import { createPacks } from './packs.ts';
import { createPlaces, type Places } from './places.ts';
import { readRows, type ImportRow } from './rows.ts';
import { createPost, sendMissing, type Outcome, type Outgoing } from './send.ts';
import { survey } from './survey.ts';

const untimedText =
  'The key lacks the scope import:write: issues are made with the time of this import. For their own times stop here, and import with a key that has it.';

export interface ImportOptions extends RemoteOptions {
  teamFrom: string;
  source: string;
}

interface Report {
  created: number;
  /** Issues that were there already, or stand twice in the file. */
  skipped: number;
  failed: number;
  /** Rows of which title or body was shortened to what an issue holds. */
  cut: number;
  /** Rows of which `created_at` is no time that has passed: their issues get the time of the import. */
  undated: number;
  /** Teams and labels that were made. */
  teams: number;
  labels: number;
}

export async function importIssues(file: string, options: ImportOptions): Promise<void> {
  const total = await survey(file);
  const report: Report = { created: 0, skipped: 0, failed: 0, cut: 0, undated: 0, teams: 0, labels: 0 };
  const progress = createProgress();
  const call = connect(options, progress.note);
  const outcome = outcomeIn(report, progress);
  const places = createPlaces(call, report);
  const post = createPost(call, () => progress.note(untimedText));
  const startedMs = performance.now();
  const packs = createPacks(async (rows) => {
    await sendMissing(call, post, options.source, rows, outcome);
    progress.show(paceOf(report, total, performance.now() - startedMs));
  });

  try {
    for await (const row of newRows(file, options.teamFrom, outcome)) {
      const ready = await prepare(row, options.source, places);
      if ('why' in ready) {
        outcome.refused(row.line, ready.why);
        continue;
      }
      tellOf(row, ready, report, progress);
      await packs.add(ready);
    }
    await packs.end();
  } catch (error) {
    progress.note(
      `Stopped after ${report.created} created, ${report.skipped} there already. Run it again to go on.`,
    );
    throw error;
  }
  progress.end();
  printResult(report, options, () => summary(basename(file), report));
  if (report.failed > 0) process.exitCode = exitCodes.failed;
}

function outcomeIn(report: Report, progress: Progress): Outcome {
  return {
    created: (count) => void (report.created += count),
    skipped: (count) => void (report.skipped += count),
    refused(line, why) {
      report.failed++;
      progress.note(`line ${line}: ${why}`);
    },
  };
}

function paceOf({ created, skipped, failed }: Report, total: number, tookMs: number): string {
  const pace = paceText(created + skipped + failed, total, tookMs);
  return failed === 0 ? pace : `${pace}, ${failed} failed`;
}

/** Each row of the file once. */
async function* newRows(file: string, teamFrom: string, outcome: Outcome): AsyncGenerator<ImportRow> {
  const seen = new Set<string>();
  for await (const row of readRows(file, teamFrom, outcome.refused)) {
    if (seen.has(row.externalId)) outcome.skipped(1);
    else yield row;
    seen.add(row.externalId);
  }
}

/** Of times that cannot be read as many are named: there may be one in each row. */
const undatedNamedMax = 20;

/** Says what of a row does not arrive as it is. */
function tellOf(
  { line, createdAt, noTime }: ImportRow,
  { cut }: Ready,
  report: Report,
  progress: Progress,
): void {
  if (cut !== null) {
    report.cut++;
    progress.note(`line ${line}: ${cut} is too long and was cut`);
  }
  if (createdAt !== null) return;
  if (report.undated++ >= undatedNamedMax) return;
  const what =
    noTime === null ? 'is empty' : `"${noTime}" is no time that has passed, such as 2026-01-31T09:30:00Z`;
  progress.note(`line ${line}: created_at ${what}; the issue gets the time of the import`);
}

type Ready = Outgoing & { cut: string | null };
type Prepared = Ready | { why: string };

async function prepare(row: ImportRow, source: string, places: Places): Promise<Prepared> {
  const { line, externalId, label, createdAt } = row;
  const team = teamKeyOf(row.teamName);
  if (team === null) return { why: `no team key can be made of "${row.teamName}"` };
  const title = fitTitle(row.title);
  if (title.trim() === '') return { why: 'the title is empty' };
  const description = fitDescription(row.body);
  const why =
    (await places.team(team, row.teamName)) ?? (label === '' ? null : await places.label(label, team));
  if (why !== null) return { why };
  const cut = [title.length < row.title.length && 'title', description.length < row.body.length && 'body'];
  return {
    line,
    cut: cut.filter(Boolean).join(' and ') || null,
    issue: {
      team,
      ...(createdAt === null ? {} : { createdAt }),
      title,
      description,
      labels: label === '' ? [] : [label],
      externalSource: source,
      externalId,
    },
  };
}

function summary(file: string, { created, skipped, failed, cut, undated, teams, labels }: Report): string {
  const made = teams + labels > 0 ? `, made ${counted(teams, 'team')} and ${counted(labels, 'label')}` : '';
  return `${file}: ${created} created, ${skipped} there already, ${failed} failed${cut > 0 ? `, ${cut} cut to fit` : ''}${undated > 0 ? `, ${undated} without a time (delete these before importing their mended rows, which are other issues to an import)` : ''}${made}`;
}
