// Commit-assigned values: values such as a number that are allocated inside the transaction. Until the commit, an
// object is shown without its value; the event stores the value, and every reader shows the completed object. Each
// entity model whose events have such a value registers how to apply it. See docs/decisions/0003.
import type { Statement } from '../../../platform/store/statement.ts';

export type ObjectBody = Readonly<Record<string, unknown>>;

export interface CommitAssignedRule {
  /** Appends an event and allocates its value; made by `appendStatement`. */
  readonly append: Statement<Appended>;
  /** Matches the JSON of an object whose value is still missing. */
  readonly waits: RegExp;
  /** Adds the value to an object that lacks it; returns any other object unchanged. */
  complete(object: ObjectBody, value: number): ObjectBody;
  /** Removes the fields that depend on a missing value; returns any other object unchanged. */
  hide(object: ObjectBody): ObjectBody;
}

/** Row returned by the statement that appends an event. */
export interface Appended {
  readonly sequence: number;
  readonly learned: number | null;
}

export interface CommitAssigned {
  readonly entityKind: string;
  readonly value: number;
}

/** By entity model. Bounded, because only code adds entries. */
const rules = new Map<string, CommitAssignedRule>();

/**
 * Registers a model whose events have a commit-assigned value. Call once per model, before its first event is created
 * or shown.
 */
export function assignAtCommit(entityKind: string, rule: CommitAssignedRule): void {
  rules.set(entityKind, rule);
}

/** @throws Error if events of the model have no commit-assigned value */
export function commitAssignedRule(entityKind: string): CommitAssignedRule {
  const rule = rules.get(entityKind);
  if (!rule) throw new Error(`No commit-assigned value is registered for events of ${entityKind}.`);
  return rule;
}

/** Adds the commit-assigned values, by object id, to a response body (an object, or a list of objects in `data`). */
export function completeBody(body: unknown, learned: ReadonlyMap<string, CommitAssigned>): unknown {
  if (!isObjectBody(body)) return body;
  if (Array.isArray(body.data))
    return { ...body, data: body.data.map((item) => completeBody(item, learned)) };
  const known = learned.get(String(body.id));
  return known ? commitAssignedRule(known.entityKind).complete(body, known.value) : body;
}

/**
 * Completes the JSON of a response that was stored in its own batch, before the values were allocated.
 * @param find returns the commit-assigned value of an object, by id
 */
export async function completeText(
  text: string,
  find: (id: string) => Promise<CommitAssigned | null>,
): Promise<string> {
  if (!waitsForCommit(text)) return text;
  const body = JSON.parse(text) as ObjectBody;
  const learned = new Map<string, CommitAssigned>();
  for (const { id } of (Array.isArray(body.data) ? body.data : [body]) as ObjectBody[]) {
    const assigned = typeof id === 'string' ? await find(id) : null;
    if (assigned) learned.set(String(id), assigned);
  }
  return JSON.stringify(completeBody(body, learned));
}

/** Returns true if the JSON of a response lacks a commit-assigned value. */
export function waitsForCommit(text: string): boolean {
  return [...rules.values()].some(({ waits }) => waits.test(text));
}

/** Returns the body of an uncommitted response, without the fields that depend on commit-assigned values. */
export function hidePending(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(hidePending);
  if (!isObjectBody(body)) return body;
  let object = body;
  for (const { hide } of new Set(rules.values())) object = hide(object);
  return 'data' in object ? { ...object, data: hidePending(object.data) } : object;
}

export function isObjectBody(value: unknown): value is ObjectBody {
  return value !== null && typeof value === 'object';
}
