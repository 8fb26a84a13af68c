// Imports issues of another tracker through the public API, and in a second reading their links and comments. Each issue has its id there,
// or the hash of its row, as its external id, and existing ones are skipped. So an interrupted import continues when it runs again.
import { basename } from 'node:path';
import {
  createProgress,
  exitCodes,
  mayPass,
  printResult,
  type CommandProgress,
  CommandError,
} from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { optional, storable, type ImportRow, type RowReporter, type Format } from './formats/row.ts';
import { fitDescription, fitTitle, teamKeyOf, withTimesInOrder } from './fit.ts';
import { findIssues, inBatches } from './requests.ts';
import { linkRows } from './links.ts';
import { paceText, emptyReport, summary, type ImportContext, type Report } from './report.ts';
import { createPacks, createPost, send, type ImportOutcome, type Outgoing } from './send.ts';
import { readPeople, createReferenceResolver, type ReferenceResolver, type State } from './references.ts';
import { createPlan, type Plan } from './plans.ts';
import { survey } from './survey.ts';
import { headerOf, headOf, csv } from './formats/csv.ts';
import { github } from './formats/github.ts';
import { jira } from './formats/jira.ts';
import { linear } from './formats/linear.ts';

const untimedText =
  'The key lacks the scope import:write, so issues get the current time, the creator of this key and new numbers. To import the original values, stop here and use a key with that scope.';

export interface ImportOptions extends RemoteOptions {
  from?: string;
  teamFrom?: string;
  source?: string;
  people?: string;
}

const formats: Readonly<Record<string, Format>> = { csv, github, linear, jira };

/** Detects the format from the start of the file, unless it is named. @throws CommandError for an unknown name */
function formatOf(file: string, name: string | undefined): Format {
  if (name !== undefined) {
    const known = Object.hasOwn(formats, name) ? formats[name] : undefined;
    if (known) return known;
    throw new CommandError(`Unknown format ${name}. Use one of ${Object.keys(formats).join(', ')}.`);
  }
  const head = headOf(file).trimStart();
  if (/^[[{]/.test(head)) return github;
  const { columns } = headerOf(head);
  if (columns.includes('Issue key')) return jira;
  return columns.includes('ID') && columns.includes('Status') ? linear : csv;
}

export async function importIssues(file: string, options: ImportOptions): Promise<void> {
  const rows = await survey(file);
  const format = formatOf(file, options.from);
  const total = format.count?.(file) ?? rows;
  const { source = format.source, teamFrom } = options;
  const report = emptyReport();
  const progress = createProgress();
  const { note } = progress;
  const call = connect(options, note);
  const people =
    options.people === undefined ? new Map<string, string>() : await readPeople(options.people, call);
  const names = new Map<string, string>();
  const context: ImportContext = { call, source, report, note, left: leftIn(report), names, people };
  async function* read(told: RowReporter): AsyncGenerator<ImportRow> {
    for await (const row of format.read(file, { teamFrom }, told)) yield storable(row);
  }
  try {
    const toLink = await makeIssues(read, context, progress, total);
    if (toLink > 0) await linkIssues(read, context, progress, toLink);
  } catch (error) {
    noteStop(report, error, note);
    throw error;
  }
  progress.end();
  printResult(report, options, () => summary(basename(file), report));
  if (report.failed > 0) process.exitCode = exitCodes.failed;
}

/** Adds no note if nothing was created and a retry would fail again: the error alone is enough. */
function noteStop({ created, skipped }: Report, error: unknown, note: CommandProgress['note']): void {
  const passes = mayPass(error);
  if (created === 0 && !passes) return;
  const first = passes ? '' : ' after you fix the error below';
  note(
    `Stopped after ${created} created, ${skipped} already present. Run the import again to continue${first}.`,
  );
}

/** @param total number of rows @returns the number of rows with links or comments */
async function makeIssues(
  read: (told: RowReporter) => AsyncIterable<ImportRow>,
  context: ImportContext,
  progress: CommandProgress,
  total: number,
): Promise<number> {
  const { call, source, report, note, left, names } = context;
  const outcome = outcomeIn(report, progress);
  const places = createReferenceResolver(context);
  const plan = createPlan(context);
  const post = createPost(call, () => note(untimedText));
  const startedMs = performance.now();
  const showPace = (): void => progress.show(paceOf(report, total, performance.now() - startedMs));
  const packs = createPacks(async (rows) => {
    await send(post, rows, outcome);
    showPace();
  });
  let toLink = 0;
  for await (const batch of inBatches(newRows(read({ bad: outcome.refused, left }), outcome.skipped))) {
    const ids = batch.map(({ externalId }) => externalId);
    const there = await findIssues(call, source, ids);
    outcome.skipped(there.size);
    if (there.size > 0) showPace();
    for (const row of batch) {
      if (hasMore(row)) toLink++;
      if (row.alsoId !== undefined) names.set(row.alsoId, row.externalId);
      if (there.has(row.externalId)) continue;
      const ready = await prepare(withTimesInOrder(row, left), source, places, plan);
      if ('why' in ready) outcome.refused(row.at, ready.why);
      else {
        tellOf(row, ready, report, progress);
        await packs.add(ready);
      }
    }
  }
  await packs.end();
  return toLink;
}

async function linkIssues(
  read: (told: RowReporter) => AsyncIterable<ImportRow>,
  context: ImportContext,
  progress: CommandProgress,
  total: number,
): Promise<void> {
  const startedMs = performance.now();
  let linked = 0;
  for await (const batch of inBatches(withMore(newRows(read(untold), () => {})))) {
    await linkRows(context, batch);
    linked += batch.length;
    progress.show(`linked ${paceText(linked, total, performance.now() - startedMs)}`);
  }
}

function outcomeIn(report: Report, progress: CommandProgress): ImportOutcome {
  return {
    created: (count) => void (report.created += count),
    skipped: (count) => void (report.skipped += count),
    renumbered: () => void report.renumbered++,
    refused(at, why) {
      report.failed++;
      progress.note(`${at}: ${why}`);
    },
  };
}

const leftIn =
  ({ left }: Report): RowReporter['left'] =>
  (what, rows = 1) =>
    void (left[what] = (left[what] ?? 0) + rows);

/** Faults of the file are reported in the first pass only. */
const untold: RowReporter = { bad: () => {}, left: () => {} };

function paceOf({ created, skipped, failed }: Report, total: number, tookMs: number): string {
  const pace = paceText(created + skipped + failed, total, tookMs);
  return failed === 0 ? pace : `${pace}, ${failed} failed`;
}

/** Each row of the file once. */
async function* newRows(
  rows: AsyncIterable<ImportRow>,
  skipped: (count: number) => void,
): AsyncGenerator<ImportRow> {
  const seen = new Set<string>();
  for await (const row of rows) {
    if (seen.has(row.externalId)) skipped(1);
    else yield row;
    seen.add(row.externalId);
  }
}

const hasMore = ({ links, comments }: ImportRow): boolean => links.length + comments.length > 0;

async function* withMore(rows: AsyncIterable<ImportRow>): AsyncGenerator<ImportRow> {
  for await (const row of rows) if (hasMore(row)) yield row;
}

/** Maximum number of reported unreadable times, because every row may have one. */
const undatedNamedMax = 20;

/** Says what of a row does not arrive as it is. */
function tellOf(
  { at, createdAt, noTime }: ImportRow,
  { cut }: Ready,
  report: Report,
  progress: CommandProgress,
): void {
  if (cut !== null) {
    report.cut++;
    progress.note(`${at}: ${cut} shortened to the maximum length`);
  }
  if (createdAt !== null) return;
  if (report.undated++ >= undatedNamedMax) return;
  const what = noTime === null ? 'is empty' : `"${noTime}" is not a past time such as 2026-01-31T09:30:00Z`;
  progress.note(`${at}: created_at ${what}; the issue gets the time of the import`);
}

type Ready = Outgoing & { cut: string | null };
type Prepared = Ready | { why: string };

async function prepare(
  row: ImportRow,
  source: string,
  places: ReferenceResolver,
  plan: Plan,
): Promise<Prepared> {
  const { at, externalId, createdAt, number } = row;
  const team = teamKeyOf(row.teamKey ?? row.teamName);
  if (team === null)
    return { why: `no team key can be derived from "${row.teamName}"; use a name with a letter from A to Z` };
  const title = fitTitle(row.title);
  if (title.trim() === '') return { why: 'the title is empty; give the issue a title' };
  const description = fitDescription(row.body);
  const why = (await places.team(team, row.teamName)) ?? (await refusedLabel(places, row.labels, team));
  if (why !== null) return { why };
  const cut = [title.length < row.title.length && 'title', description.length < row.body.length && 'body'];
  return {
    at,
    cut: cut.filter(Boolean).join(' and ') || null,
    issue: {
      team,
      ...(createdAt === null ? {} : { createdAt }),
      title,
      description,
      labels: [...row.labels],
      ...(await valuesOf(row, team, places)),
      ...(await plan(row, team)),
      ...optional('number', number),
      externalSource: source,
      externalId,
    },
  };
}

async function refusedLabel(
  places: ReferenceResolver,
  labels: readonly string[],
  team: string,
): Promise<string | null> {
  for (const label of labels) {
    const why = await places.label(label, team);
    if (why !== null) return why;
  }
  return null;
}

/** Resolves the values of a row whose file names states and people as text. */
async function valuesOf(
  row: ImportRow,
  team: string,
  places: ReferenceResolver,
): Promise<Partial<Outgoing['issue']>> {
  const { priority, status = '', assignee = '', creator = '', estimate, dueDate } = row;
  const state = status === '' ? undefined : await places.state(team, status);
  const assigneeId = assignee === '' ? undefined : await places.member(assignee, 'assignee');
  const creatorId = creator === '' ? undefined : await places.member(creator, 'creator');
  return {
    ...optional('priority', priority),
    ...optional('stateId', state?.id),
    ...timesOf(row, state),
    ...optional('assigneeId', assigneeId),
    ...optional('creatorId', creatorId),
    ...optional('estimate', estimate),
    ...optional('dueDate', dueDate),
  };
}

/** Times that an issue can have in its state. */
function timesOf({ startedAt, endedAt }: ImportRow, state: State | undefined): Partial<Outgoing['issue']> {
  const type = state?.type ?? '';
  const isCanceled = type === 'canceled' || type === 'duplicate';
  const isEnded = isCanceled || type === 'completed';
  return {
    ...(isEnded || type === 'started' ? optional('startedAt', startedAt) : {}),
    ...(isEnded ? optional(isCanceled ? 'canceledAt' : 'completedAt', endedAt) : {}),
  };
}
