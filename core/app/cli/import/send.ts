// Sends issues in bulk, packed by number and by bytes. An existing issue is skipped, a refused one costs only itself, and one whose number
// is taken gets another. A key without the scope import:write loses creation times, creators and numbers.
import { ApiCallError, type Call } from '../../../../sdk/client/index.ts';
import type { Priority } from './formats/row.ts';
import { wordsOfField } from '../../../platform/lib/errors/errors.ts';

const packIssuesMax = 90;
const packBytesMax = 900_000;

interface Packs {
  add(row: Outgoing): Promise<void>;
  /** Sends what is left. */
  end(): Promise<void>;
}

export function createPacks(sendPack: (rows: readonly Outgoing[]) => Promise<void>): Packs {
  let pack: Outgoing[] = [];
  let bytes = 0;
  const end = async (): Promise<void> => {
    if (pack.length === 0) return;
    const rows = pack;
    pack = [];
    bytes = 0;
    await sendPack(rows);
  };
  return {
    end,
    async add(row) {
      const size = Buffer.byteLength(JSON.stringify(row.issue));
      if (pack.length >= packIssuesMax || bytes + size > packBytesMax) await end();
      pack.push(row);
      bytes += size;
    },
  };
}

interface NewIssue {
  team: string;
  createdAt?: string;
  creatorId?: string;
  startedAt?: string;
  completedAt?: string;
  canceledAt?: string;
  title: string;
  description: string;
  labels: string[];
  priority?: Priority;
  stateId?: string;
  assigneeId?: string;
  estimate?: number;
  dueDate?: string;
  projectId?: string;
  milestoneId?: string;
  cycleId?: string;
  number?: number;
  externalSource: string;
  externalId: string;
}

export interface Outgoing {
  readonly at: string;
  readonly issue: NewIssue;
}

export interface ImportOutcome {
  created(count: number): void;
  skipped(count: number): void;
  refused(at: string, why: string): void;
  /** Counts an issue that gets another number. */
  renumbered(): void;
}

/** Creates issues. @throws ApiCallError */
type Post = (issues: readonly NewIssue[]) => Promise<void>;

/** Resets the fields that require the scope `import:write`. */
const unsaid = {
  createdAt: undefined,
  creatorId: undefined,
  number: undefined,
  startedAt: undefined,
  completedAt: undefined,
  canceledAt: undefined,
};

/** @param untimed told once where these are not taken: from then on issues are sent without */
export function createPost(call: Call, untimed: () => void): Post {
  let isTimed = true;
  const send: Post = (issues) =>
    call('POST', '/issues/bulk', {
      issues: isTimed ? issues : issues.map((issue) => ({ ...issue, ...unsaid })),
    });
  return async (issues) => {
    try {
      await send(issues);
    } catch (error) {
      if (!isTimed || !refusesTimes(error)) throw error;
      isTimed = false;
      untimed();
      await send(issues);
    }
  };
}

/** Returns true if the scope is missing, or the server is older than the field. */
function refusesTimes(error: unknown): boolean {
  if (!(error instanceof ApiCallError)) return false;
  if (error.status === 403) return error.message.includes('import:write');
  return error.details.some(
    ({ path, issue }) =>
      issue === 'unknown_field' && Object.keys(unsaid).some((name) => path.endsWith(`.${name}`)),
  );
}

/**
 * The server takes all of them or none. So the ones that it names are left out and the rest is sent again; where it names
 * none, halves are sent until the one at fault is alone.
 */
export async function send(post: Post, rows: readonly Outgoing[], outcome: ImportOutcome): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const refusal = await refusalOf(post, rows);
  if (!refusal) return outcome.created(rows.length);
  const named = namedIn(refusal, rows.length);
  if (named.size > 0) {
    return send(post, restOf(rows, named, outcome), outcome);
  }
  if (rows.length === 1) return outcome.refused(first.at, refusal.message);
  const half = rows.length >> 1;
  await send(post, rows.slice(0, half), outcome);
  await send(post, rows.slice(half), outcome);
}

/** Null once the issues are created. @throws ApiCallError that is not about the issues */
async function refusalOf(post: Post, rows: readonly Outgoing[]): Promise<ApiCallError | null> {
  try {
    await post(rows.map(({ issue }) => issue));
    return null;
  } catch (error) {
    if (error instanceof ApiCallError && [409, 413, 422].includes(error.status)) return error;
    throw error;
  }
}

/** Returns the rows to send again: those without a fault, and those whose number is taken, without the number. */
function restOf(rows: readonly Outgoing[], named: FaultsByIndex, outcome: ImportOutcome): Outgoing[] {
  return rows.flatMap((row, index) => {
    const why = named.get(index);
    if (why === undefined) return row;
    if (why === thereAlready) outcome.skipped(1);
    else if (why === numberTaken) {
      outcome.renumbered();
      const { number: _, ...issue } = row.issue;
      return { ...row, issue };
    } else outcome.refused(row.at, why);
    return [];
  });
}

/** A deleted issue keeps its external id: an import does not bring it back. */
const thereAlready = Symbol('there already');
const numberTaken = Symbol('number taken');

type Wrong = string | typeof thereAlready | typeof numberTaken;

/** Index of the issue → what is wrong with it. */
type FaultsByIndex = ReadonlyMap<number, Wrong>;

function wrongWith(field: string | undefined, issue: string): Wrong | undefined {
  if (issue !== 'already_exists') return undefined;
  if (field === 'externalId') return thereAlready;
  return field === 'number' ? numberTaken : undefined;
}

/** Reads paths such as `issues.3.title`. */
function namedIn(error: ApiCallError, count: number): FaultsByIndex {
  const named = new Map<number, Wrong>();
  for (const detail of error.details) {
    const { path, issue } = detail;
    const [, index, field] = /^issues\.(\d+)(?:\.(.*))?$/.exec(path) ?? [];
    // A name that is none of ours would be sent again for ever.
    if (index === undefined || Number(index) >= count) continue;
    named.set(
      Number(index),
      wrongWith(field, issue) ?? `${field ?? 'issue'}: ${wordsOfField(error, detail)}`,
    );
  }
  return named;
}
