// Shares out room among many: slots, memory, bytes. A group alone gets half of it and one member a quarter, and a newcomer finds room at
// once, because nobody takes more than is left free: the dynamic threshold of Choudhury and Hahne ("Dynamic queue length thresholds for
// shared-memory packet switches", 1998). It holds between groups (workspaces) over all of the room, and again between the
// members of a group (installs, endpoints) over what the group may still take.

import { tooManyAtOnce, type ApiError } from '../errors.ts';
import { partyOf, type Payer } from '../payer.ts';

export class Shares {
  readonly #total: number;
  readonly #under: Shares | null;
  /** By group and by member. An entry is removed with the last of what it counts, so that the room bounds how many there are. */
  readonly #taken = new Map<string, number>();
  #takenByAll = 0;

  /** @param under what is taken there counts here as well, but what is taken here does not count there */
  constructor(total: number, under: Shares | null = null) {
    this.#total = total;
    this.#under = under;
  }

  /** A copy to plan with: what is taken of it is not taken of this. */
  draft(): Shares {
    return new Shares(this.#total, this);
  }

  /** How much more a member may take now; 0 or more. O(1). */
  room(group: string, member: string): number {
    const left = share(this.#total - this.#allTaken(), this.#of(group));
    return share(left, this.taken(group, member));
  }

  /** Whether a member of the group that has nothing yet may take something. */
  hasRoom(group: string): boolean {
    return share(this.#total - this.#allTaken(), this.#of(group)) > 0;
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

  hasRoomFor(payer: Payer, amount: number): boolean {
    // While all of them together have taken little, nobody can be past its share, and no share need be looked up.
    if (4 * (this.#allTaken() + amount) <= this.#total) return true;
    return this.room(payer.workspaceId, partyOf(payer)) >= amount;
  }

  /** Takes an amount until the returned function is called, which may be called again. */
  hold(payer: Payer, amount: number): () => void {
    const [workspaceId, party] = [payer.workspaceId, partyOf(payer)];
    this.take(workspaceId, party, amount);
    let isHeld = true;
    return () => {
      if (isHeld) this.give(workspaceId, party, amount);
      isHeld = false;
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

/** How much one may still take: until it has as much as is left free. */
function share(free: number, taken: number): number {
  return Math.max(0, Math.ceil((free - taken) / 2));
}

/** A connection that stays open, of a token that acts for a member. */
export interface Connected {
  readonly tokenId: string;
  readonly memberId: string;
}

const connectionsOfToken = 20;
const connectionsOfMember = 50;
const connectionsOfWorkspace = 100;

/**
 * Whether a token may open another long-lived connection beside those of its workspace that are open. The limit of the workspace may be
 * exceeded only by members within their reserved share of it, so no member can use up what others need.
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

/** @param what plural of what is opened */
export function tooManyConnections(what: string): ApiError {
  return tooManyAtOnce(
    `Too many ${what} are open: ${connectionsOfToken} of one token, ${connectionsOfMember} of one member, ${connectionsOfWorkspace} of one workspace. Close some first.`,
  );
}
