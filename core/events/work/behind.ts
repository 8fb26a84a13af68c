// Subjects for which the database holds work back, the one whose turn it is next first. Of very many it remembers a part; when
// all of that have had their turn, it asks the database for the next part, round and round.
import { Turns } from '../../lib/fairness/turns.ts';
import { scopeOf, type Scope, type Store } from '../../store/store.ts';
import { subjectsHeldBack } from '../work-rows.ts';

export const rememberedMax = 1_024;

export interface Subject {
  readonly scope: Scope;
  readonly subject: string;
}

const beginning = { workspace_id: '', subject: '' };

export class Behind {
  readonly #store: Store;
  readonly #kind: string;
  readonly #turns = new Turns<Subject>();
  readonly #remembered = new Set<string>();
  /** The database may know of more. Until one look finds all of them, none is remembered but by a look. */
  #isPartial = false;
  #lookedUpTo = beginning;

  constructor(store: Store, kind: string) {
    this.#store = store;
    this.#kind = kind;
  }

  get isEmpty(): boolean {
    return this.#turns.isEmpty && !this.#isPartial;
  }

  /** What it remembers have all had their turn. */
  get isExhausted(): boolean {
    return this.#turns.isEmpty;
  }

  /** Whether it remembers something of a subject. */
  has(scope: Scope, subject: string): boolean {
    return this.#remembered.has(keyOf(scope, subject));
  }

  note(scope: Scope, subject: string): void {
    if (!this.#isPartial) this.#remember(scope, subject);
  }

  /** The next in turn, as far as they may go; it is forgotten. */
  take(
    mayGo: (workspaceId: string, subject: string) => boolean,
    workspaceMayGo: (workspaceId: string) => boolean,
  ): Subject | undefined {
    const next = this.#turns.take((_, workspaceId, subject) => mayGo(workspaceId, subject), workspaceMayGo);
    if (next) this.#remembered.delete(keyOf(next.scope, next.subject));
    return next;
  }

  /** Remembers what the database knows, a part of it where that is more; the next part at the next look. */
  async look(): Promise<void> {
    const { workspace_id: workspaceId, subject } = this.#lookedUpTo;
    // Said before the look, so that what is held back meanwhile is not forgotten.
    if (this.#lookedUpTo === beginning) this.#isPartial = false;
    const params = { kind: this.#kind, workspaceId, subject, limit: rememberedMax };
    const found = await this.#store.readSystem(subjectsHeldBack, params);
    for (const row of found) this.#remember(scopeOf(row.workspace_id, row.subject), row.subject);
    const last = found.length === rememberedMax ? found.at(-1) : undefined;
    if (last) this.#isPartial = true;
    this.#lookedUpTo = last ?? beginning;
    // Nothing was left behind that part; what was held back meanwhile may stand before it.
    if (found.length === 0 && subject !== '') await this.look();
  }

  #remember(scope: Scope, subject: string): void {
    const key = keyOf(scope, subject);
    if (this.#remembered.has(key)) return;
    if (this.#remembered.size >= rememberedMax) {
      this.#isPartial = true;
      return;
    }
    this.#remembered.add(key);
    this.#turns.push(scope.workspaceId, subject, { scope, subject });
  }
}

const keyOf = ({ workspaceId }: Scope, subject: string): string => `${workspaceId} ${subject}`;
