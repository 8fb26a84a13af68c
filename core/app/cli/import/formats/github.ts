// The issues of GitHub as its API lists them (`GET /repos/OWNER/REPO/issues?state=all`, all pages in one array), or as `gh issue list --json`
// writes them; docs/operations/import.md has the command. Pull requests are left out.
import { readFileSync } from 'node:fs';
import { Check, Errors } from 'typebox/value';
import { Type, type Static, type TSchema } from 'typebox';
import { parseJsonText } from '../../../../platform/lib/json/json-fault.ts';
import { CommandError } from '../../lib/output.ts';
import {
  dayIn,
  numberIn,
  optional,
  pastTimeIn,
  readAs,
  timeIn,
  type Format,
  type ImportRow,
  type ImportedLink,
  type RowReporter,
} from './row.ts';

const maybe = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
const text = maybe(Type.String());

const Other = Type.Object({ number: Type.Integer(), html_url: text, url: text });
type Other = Static<typeof Other>;
const Person = maybe(Type.Object({ login: Type.String() }));

const Issue = Type.Object({
  number: Type.Integer(),
  title: Type.String(),
  body: text,
  state: Type.Optional(Type.String()),
  state_reason: text,
  stateReason: text,
  labels: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Object({ name: Type.String() })]))),
  assignees: Type.Optional(Type.Array(Type.Object({ login: Type.String() }))),
  created_at: Type.Optional(Type.String()),
  createdAt: Type.Optional(Type.String()),
  closed_at: text,
  closedAt: text,
  // Field names of the API and of `gh`.
  user: Person,
  author: Person,
  html_url: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  milestone: maybe(Type.Object({ title: Type.String(), description: text, due_on: text, dueOn: text })),
  parent_issue_url: text,
  parent: maybe(Other),
  sub_issues: maybe(Type.Array(Other)),
  duplicate_of: maybe(Other),
  duplicateOf: maybe(Other),
  // The API counts them, `gh` writes them.
  comments: maybe(
    Type.Union([
      Type.Integer(),
      Type.Array(Type.Object({ author: Person, createdAt: text, body: Type.String() })),
    ]),
  ),
  reactions: maybe(Type.Object({ total_count: Type.Optional(Type.Integer()) })),
  reactionGroups: maybe(Type.Array(Type.Unknown())),
});
type Issue = Static<typeof Issue>;

export const github: Format = {
  source: 'github',
  count: (file) => entriesIn(file).filter((entry) => !isPullRequest(entry)).length,
  async *read(file, { teamFrom }, told) {
    for (const [index, entry] of entriesIn(file).entries()) {
      const at = `record ${index + 1}`;
      if (isPullRequest(entry)) told.left('pull request');
      else if (!Check(Issue, entry)) told.bad(at, `not an issue: ${faultOf(entry)}`);
      else {
        for (const what of leftOf(entry)) told.left(what);
        yield rowOf(entry, at, teamFrom, told);
      }
    }
  },
};

function faultOf(entry: unknown): string {
  const path = Errors(Issue, entry)[0]?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  return path === ''
    ? 'an issue must have a number and a title'
    : `${path} does not have the format of GitHub; export the issues again`;
}

/** @throws CommandError */
function entriesIn(file: string): unknown[] {
  let value: unknown;
  try {
    value = parseJsonText(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new CommandError(
      `${file} is not JSON: ${(error as Error).message}. Export the issues again.`,
      undefined,
      { cause: error },
    );
  }
  if (Array.isArray(value)) return value.flat();
  throw new CommandError(
    `${file} is not a list of issues: it must begin with [, not {. Export the issues as a JSON list.`,
  );
}

const isPullRequest = (entry: unknown): boolean =>
  typeof entry === 'object' && entry !== null && 'pull_request' in entry;

function rowOf(issue: Issue, at: string, teamFrom: string | undefined, told: RowReporter): ImportRow {
  const found = repositoryOf(issue);
  const repository = found ?? teamFrom ?? 'github';
  return {
    at,
    teamName: teamFrom ?? repository,
    ...optional('number', teamFrom === undefined ? numberIn(`-${issue.number}`) : undefined),
    labels: (issue.labels ?? []).map((label) => (typeof label === 'string' ? label : label.name)),
    title: issue.title,
    body: issue.body ?? '',
    ...timeIn(issue.created_at ?? issue.createdAt ?? ''),
    ...readAs('endedAt', issue.closed_at ?? issue.closedAt ?? '', pastTimeIn, told),
    externalId: `${repository}#${issue.number}`,
    status: statusOf(issue),
    ...peopleOf(issue),
    ...stepOf(issue, repository),
    links: linksOf(issue, repository),
    comments: commentsOf(issue),
  };
}

function peopleOf({ assignees, user, author }: Issue): Pick<ImportRow, 'assignee' | 'creator'> {
  return { assignee: assignees?.[0]?.login ?? '', creator: (user ?? author)?.login ?? '' };
}

const inAddress = /([^/]+\/[^/]+)\/issues\/(\d+)$/;

/** `acme/editor`, from the address of the issue. */
function repositoryOf({
  html_url: page,
  url: address,
}: Partial<Pick<Other, 'html_url' | 'url'>>): string | undefined {
  return inAddress.exec(page ?? address ?? '')?.[1];
}

function statusOf({ state = 'open', state_reason: given, stateReason = given }: Issue): string {
  if (state.toLowerCase() === 'open') return '';
  const reason = stateReason?.toLowerCase();
  if (reason === 'duplicate') return 'duplicate';
  return reason === 'not_planned' ? 'canceled' : 'done';
}

/** A milestone is one of its repository: the repository is the project that it is a step of. */
function stepOf({ milestone }: Issue, repository: string): Pick<ImportRow, 'project' | 'milestone'> {
  if (!milestone) return {};
  const { title: name, description, due_on: dueOn, dueOn: due = dueOn } = milestone;
  const targetDate = dayIn(due ?? '');
  const step = {
    name,
    ...optional('description', description || undefined),
    ...optional('targetDate', targetDate),
  };
  return { project: repository, milestone: step };
}

function linksOf(issue: Issue, repository: string): ImportedLink[] {
  const named = (other: Other): string => `${repositoryOf(other) ?? repository}#${other.number}`;
  const [, parentIn, parentNumber] = inAddress.exec(issue.parent_issue_url ?? '') ?? [];
  const parent = parentIn === undefined ? undefined : `${parentIn}#${parentNumber}`;
  const to = issue.parent ? named(issue.parent) : parent;
  const original = issue.duplicate_of ?? issue.duplicateOf;
  return [
    ...(to === undefined ? [] : [{ type: 'child_of', to } as const]),
    ...(issue.sub_issues ?? []).map((other) => ({ type: 'parent_of', to: named(other) }) as const),
    ...(original ? [{ type: 'duplicate_of', to: named(original) } as const] : []),
  ];
}

function commentsOf({ comments }: Issue): ImportRow['comments'] {
  if (!Array.isArray(comments)) return [];
  return comments.map(({ author, createdAt, body }) => ({
    said: [author?.login, createdAt].filter(Boolean).join(', '),
    body,
  }));
}

/** Reports data that has no equivalent, or that the file does not contain. */
function leftOf({ assignees = [], comments, reactions, reactionGroups }: Issue): string[] {
  return [
    ...(assignees.length > 1 ? ['further assignees'] : []),
    ...(typeof comments === 'number' && comments > 0
      ? ['comments, which only `gh` writes into the file']
      : []),
    ...((reactions?.total_count ?? reactionGroups?.length ?? 0) > 0 ? ['reactions'] : []),
  ];
}
