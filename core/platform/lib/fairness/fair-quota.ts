// Divides a capacity (slots, memory, bytes) fairly. A single group gets at most half of it and a single member a quarter, and a
// newcomer finds capacity at once, because no one may take more than is left free: the dynamic threshold of Choudhury and Hahne
// ("Dynamic queue length thresholds for shared-memory packet switches", 1998). It applies between groups (workspaces) over the
// whole capacity, and again between the members of a group (plugin installations, endpoints) over the group's remaining quota.

import { tooManyAtOnce, type ApiError } from '../errors/errors.ts';
import { partyOf, type BillingAccount } from '../billing-account.ts';

export class FairQuota {
  readonly #total: number;
  readonly #under: FairQuota | null;
  /** Usage by group and by member. Entries of 0 are removed, so the capacity bounds the number of entries. */
  readonly #taken = new Map<string, number>();
  #takenByAll = 0;

  /** @param under quota whose usage counts here too, but not vice versa */
  constructor(total: number, under: FairQuota | null = null) {
    this.#total = total;
    this.#under = under;
  }

  /** Returns a copy for planning; usage of the copy does not affect the original. */
  draft(): FairQuota {
    return new FairQuota(this.#total, this);
  }

  /** Returns the remaining quota of a member; 0 or more. O(1). */
  remaining(group: string, member: string): number {
    const left = allowance(this.#total - this.#allTaken(), this.#of(group));
    return allowance(left, this.taken(group, member));
  }

  /** Returns true if a member of the group without usage may take something. */
  hasCapacity(group: string): boolean {
    return allowance(this.#total - this.#allTaken(), this.#of(group)) > 0;
  }

  taken(group: string, member: string): number {
    return this.#of(`${group} ${member}`);
  }

  take(group: string, member: string, amount = 1): void {
    this.#add(group, amount);
    this.#add(`${group} ${member}`, amount);
    this.#takenByAll += amount;
  }

  give(group: string, member: string, amount = 1): void {
    this.take(group, member, -amount);
  }

  hasCapacityFor(billingAccount: BillingAccount, amount: number): boolean {
    // While the total usage is low, no member can exceed its quota, so no lookup is needed.
    if (4 * (this.#allTaken() + amount) <= this.#total) return true;
    return this.remaining(billingAccount.workspaceId, partyOf(billingAccount)) >= amount;
  }

  /** Takes an amount until the returned function is called; further calls have no effect. */
  reserve(billingAccount: BillingAccount, amount: number): () => void {
    const [workspaceId, party] = [billingAccount.workspaceId, partyOf(billingAccount)];
    this.take(workspaceId, party, amount);
    let isReserved = true;
    return () => {
      if (isReserved) this.give(workspaceId, party, amount);
      isReserved = false;
    };
  }

  #allTaken(): number {
    return this.#takenByAll + (this.#under ? this.#under.#allTaken() : 0);
  }

  #of(key: string): number {
    return (this.#taken.get(key) ?? 0) + (this.#under ? this.#under.#of(key) : 0);
  }

  #add(key: string, amount: number): void {
    const now = (this.#taken.get(key) ?? 0) + amount;
    if (now === 0) this.#taken.delete(key);
    else this.#taken.set(key, now);
  }
}

/** Returns the amount that may still be taken: half of the difference between free and taken, rounded up. */
function allowance(free: number, taken: number): number {
  return Math.max(0, Math.ceil((free - taken) / 2));
}

/** An open long-lived connection of a token that acts for a member. */
export interface Connected {
  readonly tokenId: string;
  readonly memberId: string;
}

const connectionsOfToken = 20;
const connectionsOfMember = 50;
const connectionsOfWorkspace = 100;

/**
 * Returns true if a token may open another long-lived connection, given the open ones of its workspace. Only members within their
 * reserved share may exceed the workspace limit, so no member can use up the others' connections.
 */
export function mayConnect(open: Iterable<Connected>, { tokenId, memberId }: Connected): boolean {
  const members = new Set<string>();
  let [all, ofMember, ofToken] = [0, 0, 0];
  for (const one of open) {
    all++;
    members.add(one.memberId);
    if (one.memberId === memberId) ofMember++;
    if (one.tokenId === tokenId) ofToken++;
  }
  if (ofToken >= connectionsOfToken || ofMember >= connectionsOfMember) return false;
  return all < connectionsOfWorkspace || ofMember < Math.ceil(connectionsOfWorkspace / members.size);
}

/** @param what plural noun of the connections */
export function tooManyConnections(what: string): ApiError {
  return tooManyAtOnce(
    `Too many open ${what}: at most ${connectionsOfToken} per token, ${connectionsOfMember} per member and ${connectionsOfWorkspace} per workspace. Close some first.`,
  );
}
