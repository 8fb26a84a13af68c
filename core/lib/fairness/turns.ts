// A queue in turns: groups (workspaces) take turns, the members (installs, endpoints) of a group take turns, and the pieces of one
// member go first in, first out. So a member's next piece waits for one piece of each other group and member at most, however
// many those have waiting. It has no bound of its own: whoever pushes bounds what waits, and what is empty is removed.

interface Member<Item> {
  readonly name: string;
  readonly waiting: Item[];
}

interface Group<Item> {
  readonly name: string;
  /** Only members that have something waiting; the one whose turn is next comes first. */
  readonly members: Member<Item>[];
}

export class Turns<Item> {
  readonly #groups: Group<Item>[] = [];
  readonly #groupsByName = new Map<string, Group<Item>>();
  readonly #membersByName = new Map<string, Member<Item>>();

  push(group: string, member: string, item: Item): void {
    const known = this.#membersByName.get(`${group} ${member}`);
    if (known) return void known.waiting.push(item);
    const made = { name: member, waiting: [item] };
    this.#membersByName.set(`${group} ${member}`, made);
    const of = this.#groupsByName.get(group);
    if (of) return void of.members.push(made);
    const newGroup = { name: group, members: [made] };
    this.#groupsByName.set(group, newGroup);
    this.#groups.push(newGroup);
  }

  /**
   * The next piece in turn. A member that is not admitted keeps its turn. The members of a group that is not admitted are not asked.
   */
  take(
    admits: (item: Item, group: string, member: string) => boolean,
    admitsGroup: (group: string) => boolean = () => true,
  ): Item | undefined {
    for (const [at, group] of this.#groups.entries()) {
      if (!admitsGroup(group.name)) continue;
      const turn = group.members.findIndex(({ name, waiting }) => admits(waiting[0]!, group.name, name));
      if (turn < 0) continue;
      const [member] = group.members.splice(turn, 1);
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

  /** How many a group has waiting. */
  waitingOf(group: string): number {
    const members = this.#groupsByName.get(group)?.members ?? [];
    return members.reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  waitingOfMember(group: string, member: string): number {
    return this.#membersByName.get(`${group} ${member}`)?.waiting.length ?? 0;
  }

  /** Empties all queues. */
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
