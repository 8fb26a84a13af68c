// What only a commit knows of an object, such as a number that is taken inside the transaction. Until then the object is shown
// without it; the commit learns the value, the event keeps it, and every reader shows the object completed. The kinds whose
// events learn something say how; nothing here knows what it is. See docs/decisions/0003.
import type { Statement } from '../store/statement.ts';

export type Shown = Readonly<Record<string, unknown>>;

export interface Learning {
  /** Appends an event and takes the value for it; made by `appendStatement`. */
  readonly append: Statement<Appended>;
  /** Found in the JSON of an object that waits for the value. */
  readonly waits: RegExp;
  /** An object that waits for the value, with it; any other as it is. */
  complete(shown: Shown, value: number): Shown;
  /** An object that waits for the value, without what the value is part of; any other as it is. */
  hide(shown: Shown): Shown;
}

/** What the statement that appends an event returns. */
export interface Appended {
  readonly sequence: number;
  readonly learned: number | null;
}

/** What a commit learned of an object, by an event of this kind of entity. */
export interface Learned {
  readonly entityKind: string;
  readonly value: number;
}

/** By kind: as many as the code defines. */
const learnings = new Map<string, Learning>();

/** To be called once for each kind whose events learn something, before the first of them is made or shown. */
export function learnAtCommit(entityKind: string, learning: Learning): void {
  learnings.set(entityKind, learning);
}

/** @throws Error when events of the kind learn nothing */
export function learningOf(entityKind: string): Learning {
  const learning = learnings.get(entityKind);
  if (!learning) throw new Error(`Nothing is known of what events of ${entityKind} learn.`);
  return learning;
}

/** The body of an answer (an object, or a list of them in `data`), completed by what was learned of its objects, by id. */
export function completeBody(body: unknown, learned: ReadonlyMap<string, Learned>): unknown {
  if (!isShown(body)) return body;
  if (Array.isArray(body.data))
    return { ...body, data: body.data.map((item) => completeBody(item, learned)) };
  const known = learned.get(String(body.id));
  return known ? learningOf(known.entityKind).complete(body, known.value) : body;
}

/**
 * The JSON of an answer that was stored in the batch that it answers, before anything was learned.
 * @param find what was learned of an object, by its id
 */
export async function completeText(
  text: string,
  find: (id: string) => Promise<Learned | null>,
): Promise<string> {
  if (!waitsForCommit(text)) return text;
  const body = JSON.parse(text) as Shown;
  const learned = new Map<string, Learned>();
  for (const { id } of (Array.isArray(body.data) ? body.data : [body]) as Shown[]) {
    const found = typeof id === 'string' ? await find(id) : null;
    if (found) learned.set(String(id), found);
  }
  return JSON.stringify(completeBody(body, learned));
}

/** Whether something in the JSON of an answer waits for what its commit learns. */
export function waitsForCommit(text: string): boolean {
  return [...learnings.values()].some(({ waits }) => waits.test(text));
}

/** The body of an answer as it is shown of what is not committed: without what only the commit will know. */
export function hidePending(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(hidePending);
  if (!isShown(body)) return body;
  let shown = body;
  for (const { hide } of new Set(learnings.values())) shown = hide(shown);
  return 'data' in shown ? { ...shown, data: hidePending(shown.data) } : shown;
}

export function isShown(value: unknown): value is Shown {
  return value !== null && typeof value === 'object';
}
