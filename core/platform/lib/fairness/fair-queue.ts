// Queue that is fair between groups and their members, and a pool of concurrent jobs that uses it.
import { partyOf, type BillingAccount } from '../billing-account.ts';

interface Member<Item> {
  readonly name: string;
  readonly waiting: Item[];
}

interface Group<Item> {
  readonly name: string;
  /** Members with queued items, next one first. */
  readonly members: Member<Item>[];
}

/**
 * Round-robin over groups (workspaces), then over the members (plugin installations, endpoints) of a group;
 * items of one member are first in, first out. An item waits for at most one item of each other group and
 * member, however many those have queued. Callers bound the length; empty members and groups are removed.
 */
export class FairQueue<Item> {
  readonly #groups: Group<Item>[] = [];
  readonly #groupsByName = new Map<string, Group<Item>>();
  readonly #membersByName = new Map<string, Member<Item>>();

  push(group: string, member: string, item: Item): void {
    const known = this.#membersByName.get(`${group} ${member}`);
    if (known) return void known.waiting.push(item);
    const newMember = { name: member, waiting: [item] };
    this.#membersByName.set(`${group} ${member}`, newMember);
    const of = this.#groupsByName.get(group);
    if (of) return void of.members.push(newMember);
    const newGroup = { name: group, members: [newMember] };
    this.#groupsByName.set(group, newGroup);
    this.#groups.push(newGroup);
  }

  /**
   * Removes and returns the next item. Members that are not admitted keep their position. Members of a group that is not admitted
   * are not tested.
   */
  take(
    admits: (item: Item, group: string, member: string) => boolean,
    admitsGroup: (group: string) => boolean = () => true,
  ): Item | undefined {
    for (const [at, group] of this.#groups.entries()) {
      if (!admitsGroup(group.name)) continue;
      const memberIndex = group.members.findIndex(({ name, waiting }) =>
        admits(waiting[0]!, group.name, name),
      );
      if (memberIndex < 0) continue;
      const [member] = group.members.splice(memberIndex, 1);
      this.#groups.splice(at, 1);
      const item = member!.waiting.shift();
      if (member!.waiting.length > 0) group.members.push(member!);
      else this.#membersByName.delete(`${group.name} ${member!.name}`);
      if (group.members.length > 0) this.#groups.push(group);
      else this.#groupsByName.delete(group.name);
      return item;
    }
    return undefined;
  }

  waitingOf(group: string): number {
    const members = this.#groupsByName.get(group)?.members ?? [];
    return members.reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  waitingOfMember(group: string, member: string): number {
    return this.#membersByName.get(`${group} ${member}`)?.waiting.length ?? 0;
  }

  clear(): Item[] {
    const all = this.#groups.flatMap(({ members }) => members.flatMap(({ waiting }) => waiting));
    this.#groups.length = 0;
    this.#groupsByName.clear();
    this.#membersByName.clear();
    return all;
  }

  get isEmpty(): boolean {
    return this.#groups.length === 0;
  }
}

/**
 * Limits concurrent work on threads of the runtime, such as compression, fairly by workspace and account.
 * Callers bound the length of the queue.
 */
export interface FairPool {
  /** Settles like `work`, which runs when its account is next in the queue. */
  run<T>(billingAccount: BillingAccount, work: () => Promise<T>): Promise<T>;
}

const everybody = (): boolean => true;

/**
 * @param count number of concurrent jobs
 * @param charge receives the duration of each job, milliseconds
 */
export function createFairPool(
  count: number,
  charge: (billingAccount: BillingAccount, ms: number) => void,
): FairPool {
  const queue = new FairQueue<() => Promise<void>>();
  let busy = 0;
  const fill = (): void => {
    while (busy < count) {
      const work = queue.take(everybody);
      if (!work) return;
      busy++;
      void work().then(() => {
        busy--;
        fill();
      });
    }
  };
  return {
    run: (billingAccount, work) =>
      new Promise((resolve, reject) => {
        queue.push(billingAccount.workspaceId, partyOf(billingAccount), async () => {
          const sinceMs = performance.now();
          await work().then(resolve, reject);
          charge(billingAccount, performance.now() - sinceMs);
        });
        fill();
      }),
  };
}
