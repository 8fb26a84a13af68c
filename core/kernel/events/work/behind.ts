// Fair queue of the subscribers that have work over their quota in the database. It caches a limited part of
// them; once that part is empty, it reads the next part from the database, cyclically.
import { FairQueue } from '../../../platform/lib/fairness/fair-queue.ts';
import { scopeOf, type Scope, type Store } from '../../../platform/store/store.ts';
import { subjectsOverQuota } from './rows.ts';

export const rememberedMax = 1_024;

export interface BehindSubject {
  readonly scope: Scope;
  readonly subject: string;
}

const beginning = { workspace_id: '', subject: '' };

export class Behind {
  readonly #store: Store;
  readonly #kind: string;
  readonly #turns = new FairQueue<BehindSubject>();
  readonly #remembered = new Set<string>();
  /** True if the database may have subscribers that are not cached; only `look` then adds subscribers. */
  #isPartial = false;
  #lookedUpTo = beginning;

  constructor(store: Store, kind: string) {
    this.#store = store;
    this.#kind = kind;
  }

  get isEmpty(): boolean {
    return this.#turns.isEmpty && !this.#isPartial;
  }

  /** True if every cached subscriber has been taken. */
  get isExhausted(): boolean {
    return this.#turns.isEmpty;
  }

  has(scope: Scope, subject: string): boolean {
    return this.#remembered.has(keyOf(scope, subject));
  }

  note(scope: Scope, subject: string): void {
    if (!this.#isPartial) this.#remember(scope, subject);
  }

  /** Removes and returns the next subscriber that both filters accept. */
  take(
    mayGo: (workspaceId: string, subject: string) => boolean,
    workspaceMayGo: (workspaceId: string) => boolean,
  ): BehindSubject | undefined {
    const next = this.#turns.take((_, workspaceId, subject) => mayGo(workspaceId, subject), workspaceMayGo);
    if (next) this.#remembered.delete(keyOf(next.scope, next.subject));
    return next;
  }

  /** Caches the next part of the subscribers in the database. */
  async look(): Promise<void> {
    const { workspace_id: workspaceId, subject } = this.#lookedUpTo;
    // Reset before the read, so that `note` adds subscribers that exceed their quota during the read.
    if (this.#lookedUpTo === beginning) this.#isPartial = false;
    const params = { kind: this.#kind, workspaceId, subject, limit: rememberedMax };
    const rows = await this.#store.readSystem(subjectsOverQuota, params);
    for (const row of rows) this.#remember(scopeOf(row.workspace_id, row.subject), row.subject);
    const last = rows.length === rememberedMax ? rows.at(-1) : undefined;
    if (last) this.#isPartial = true;
    this.#lookedUpTo = last ?? beginning;
    // No subscriber follows the last one: the next cycle starts, because earlier ones may have work again.
    if (rows.length === 0 && subject !== '') await this.look();
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
