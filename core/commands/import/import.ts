// `tatami import`: brings issues from a CSV file into teams through the public API. Running it again adds nothing: each issue
// carries the hash of its row as its external id, and what the server has already is skipped.
import { basename } from 'node:path';
import { ApiCallError, type Client } from '../../../sdk/client/index.ts';
import { exitCodes, printResult, progress, say } from '../output.ts';
import { connect, type RemoteOptions } from '../remote.ts';
import { readRows, teamKeyOf, type ImportRow } from './rows.ts';

const batchIssuesMax = 90;
const batchBytesMax = 900_000;
const descriptionBytesMax = 256 * 1024;
const titleCharsMax = 500;

export interface ImportReport {
  created: number;
  skipped: number;
  failed: number;
  cut: number;
  teams: number;
  labels: number;
}

interface NewIssue {
  team: string;
  title: string;
  description: string;
  labels: string[];
  externalSource: string;
  externalId: string;
}

export async function importIssues(
  file: string,
  options: RemoteOptions & { teamFrom: string; source?: string },
): Promise<void> {
  const call = connect(options);
  const report: ImportReport = { created: 0, skipped: 0, failed: 0, cut: 0, teams: 0, labels: 0 };
  const source = options.source ?? 'csv';
  const places = createPlaces(call, report);
  const show = progress();
  const seen = new Set<string>();
  let batch: NewIssue[] = [];
  let bytes = 0;

  const reject = (line: number, why: string): void => {
    report.failed++;
    say(`line ${line}: ${why}`);
  };
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await sendBatch(call, source, batch, report, reject);
    batch = [];
    bytes = 0;
    show(`${report.created} created, ${report.skipped} there already, ${report.failed} failed`);
  };

  for await (const row of readRows(file, options.teamFrom)) {
    if (seen.has(row.externalId)) {
      report.skipped++;
      continue;
    }
    seen.add(row.externalId);
    const issue = await toIssue(row, source, places, report, reject);
    if (!issue) continue;
    const size = Buffer.byteLength(JSON.stringify(issue));
    if (batch.length >= batchIssuesMax || (batch.length > 0 && bytes + size > batchBytesMax)) await flush();
    batch.push(issue);
    bytes += size;
  }
  await flush();
  if (process.stderr.isTTY) say('');
  printResult(report, options, () => summary(basename(file), report));
  if (report.failed > 0) process.exitCode = exitCodes.failed;
}

function summary(file: string, report: ImportReport): string {
  const { created, skipped, failed, cut, teams, labels } = report;
  const made = teams + labels > 0 ? `, made ${teams} teams and ${labels} labels` : '';
  return `${file}: ${created} created, ${skipped} there already, ${failed} failed${cut > 0 ? `, ${cut} cut to fit` : ''}${made}`;
}

async function toIssue(
  row: ImportRow,
  source: string,
  places: Places,
  report: ImportReport,
  reject: (line: number, why: string) => void,
): Promise<NewIssue | null> {
  const key = teamKeyOf(row.teamName);
  if (key === null) return (reject(row.line, `no team key can be made of "${row.teamName}"`), null);
  if (row.title.trim() === '') return (reject(row.line, 'the title is empty'), null);
  const team = await places.team(key, row.teamName);
  if (team === null)
    return (
      reject(
        row.line,
        `the team key ${key} of "${row.teamName}" belongs to another team; rename one of them`,
      ),
      null
    );
  const title = fit(row.title.replaceAll('\0', ''), titleCharsMax);
  const description = fitBytes(row.body.replaceAll('\0', ''), descriptionBytesMax);
  if (title !== row.title || description !== row.body) report.cut++;
  if (row.label !== '') await places.label(row.label);
  return {
    team,
    title,
    description,
    labels: row.label === '' ? [] : [row.label],
    externalSource: source,
    externalId: row.externalId,
  };
}

function fit(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}

function fitBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytesMax - 8)).replace(/\ufffd+$/, '');
}

/** Sends what the server does not have yet; when it refuses the batch, each issue alone, so that one bad row costs only itself. */
async function sendBatch(
  call: Client,
  source: string,
  batch: readonly NewIssue[],
  report: ImportReport,
  reject: (line: number, why: string) => void,
): Promise<void> {
  const filter = JSON.stringify({
    externalSource: source,
    externalId: { in: batch.map(({ externalId }) => externalId) },
  });
  const { data } = await call<{ data: { externalId: string }[] }>(
    'GET',
    `/issues?limit=100&fields=externalId&filter=${encodeURIComponent(filter)}`,
  );
  const there = new Set(data.map(({ externalId }) => externalId));
  const missing = batch.filter(({ externalId }) => !there.has(externalId));
  report.skipped += batch.length - missing.length;
  if (missing.length === 0) return;
  try {
    await call('POST', '/issues/bulk', { issues: missing });
    report.created += missing.length;
  } catch (error) {
    if (!(error instanceof ApiCallError) || error.status !== 422) throw error;
    for (const issue of missing) await sendOne(call, issue, report, reject);
  }
}

async function sendOne(
  call: Client,
  issue: NewIssue,
  report: ImportReport,
  reject: (line: number, why: string) => void,
): Promise<void> {
  try {
    await call('POST', '/issues', issue);
    report.created++;
  } catch (error) {
    if (!(error instanceof ApiCallError) || error.status !== 422) throw error;
    // A deleted issue keeps its external id: it is not brought back by an import.
    if (error.details.some(({ issue: what }) => what === 'already_exists')) report.skipped++;
    else reject(0, `"${issue.title.slice(0, 60)}": ${error.message}`);
  }
}

interface Places {
  /** The key; made when missing; null when it stands for another name. */
  team(key: string, name: string): Promise<string | null>;
  label(name: string): Promise<void>;
}

/** Teams and labels by name, made where missing. */
function createPlaces(call: Client, report: ImportReport): Places {
  let teams: Map<string, string> | null = null;
  let labels: Set<string> | null = null;
  const everything = async <T>(path: string): Promise<T[]> => {
    const all: T[] = [];
    for (let after: string | null = null; ;) {
      const page: { data: T[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } = await call(
        'GET',
        `${path}?limit=100${after === null ? '' : `&after=${encodeURIComponent(after)}`}`,
      );
      all.push(...page.data);
      after = page.pageInfo.endCursor;
      if (!page.pageInfo.hasNextPage) return all;
    }
  };
  return {
    async team(key, name) {
      teams ??= new Map(
        (await everything<{ key: string; name: string }>('/teams')).map((team) => [team.key, team.name]),
      );
      const known = teams.get(key);
      // A team made by hand has its own name; only two names of one file may not share a key.
      if (known === undefined) {
        await call('POST', '/teams', { key, name: fit(name, 80) });
        report.teams++;
        teams.set(key, fit(name, 80));
      } else if (known !== fit(name, 80) && known.includes('/') && name.includes('/')) return null;
      return key;
    },
    async label(name) {
      labels ??= new Set(
        (await everything<{ name: string }>('/labels')).map((label) => label.name.toLowerCase()),
      );
      if (labels.has(name.toLowerCase())) return;
      await call('POST', '/labels', { name });
      report.labels++;
      labels.add(name.toLowerCase());
    },
  };
}
