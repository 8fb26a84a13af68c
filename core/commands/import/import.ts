// `tatami import`: brings issues from a CSV file into teams through the public API. Running it again adds nothing: each issue
// carries the hash of its row as its external id, and what the server has already is skipped. So an import that was cut
// short is finished by running it again.
import { basename } from 'node:path';
import { createProgress, exitCodes, printResult } from '../output.ts';
import { connect, type RemoteOptions } from '../remote.ts';
import { fitDescription, fitTitle, teamKeyOf } from './fit.ts';
import { createPlaces, type Places } from './places.ts';
import { readRows, type ImportRow } from './rows.ts';
import { sendMissing, type Outcome, type Outgoing } from './send.ts';

const batchIssuesMax = 90;
const batchBytesMax = 900_000;

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
  /** Teams and labels that were made. */
  teams: number;
  labels: number;
}

export async function importIssues(file: string, options: ImportOptions): Promise<void> {
  const report: Report = { created: 0, skipped: 0, failed: 0, cut: 0, teams: 0, labels: 0 };
  const progress = createProgress();
  const call = connect(options, progress.note);
  const refused = (line: number, why: string): void => {
    report.failed++;
    progress.note(`line ${line}: ${why}`);
  };
  const outcome: Outcome = {
    created: (count) => void (report.created += count),
    skipped: (count) => void (report.skipped += count),
    refused,
  };
  const places = createPlaces(call, report);
  /** One hash for each row of the file. */
  const seen = new Set<string>();
  let batch: Outgoing[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    const rows = batch;
    batch = [];
    bytes = 0;
    await sendMissing(call, options.source, rows, outcome);
    progress.show(`${report.created} created, ${report.skipped} there already, ${report.failed} failed`);
  };

  try {
    for await (const row of readRows(file, options.teamFrom, refused)) {
      if (seen.has(row.externalId)) {
        report.skipped++;
        continue;
      }
      seen.add(row.externalId);
      const ready = await prepare(row, options.source, places);
      if ('why' in ready) {
        refused(row.line, ready.why);
        continue;
      }
      if (ready.cut !== null) {
        report.cut++;
        progress.note(`line ${row.line}: ${ready.cut} is too long and was cut`);
      }
      const size = Buffer.byteLength(JSON.stringify(ready.issue));
      if (batch.length >= batchIssuesMax || bytes + size > batchBytesMax) await flush();
      batch.push(ready);
      bytes += size;
    }
    await flush();
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

type Prepared = (Outgoing & { cut: string | null }) | { why: string };

async function prepare(row: ImportRow, source: string, places: Places): Promise<Prepared> {
  const { line, externalId, label } = row;
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
      title,
      description,
      labels: label === '' ? [] : [label],
      externalSource: source,
      externalId,
    },
  };
}

function summary(file: string, { created, skipped, failed, cut, teams, labels }: Report): string {
  const made = teams + labels > 0 ? `, made ${teams} teams and ${labels} labels` : '';
  return `${file}: ${created} created, ${skipped} there already, ${failed} failed${cut > 0 ? `, ${cut} cut to fit` : ''}${made}`;
}
