// Replays the acts of the month on plain objects, without requests to the server or shared code.
import { Cycles, type Rhythm } from './model-cycles.ts';
import { Inboxes } from './model-inbox.ts';
import { heed, passTime, type Policy, type SlaClock } from './model-sla.ts';

export type StateType =
  'triage' | 'backlog' | 'unstarted' | 'started' | 'completed' | 'canceled' | 'duplicate';
export const finished: readonly StateType[] = ['completed', 'canceled', 'duplicate'];

/** The fields of an issue that people write. */
export interface Written {
  title: string;
  state: StateType;
  priority: string;
  assignee: string | null;
  labels: readonly string[];
  project: string | null;
  milestone: string | null;
  estimate: number | null;
  /** The number of a cycle of its team. */
  cycle: number | null;
  dueDate: string | null;
  fields: Readonly<Record<string, string | number>>;
}

export interface Issue extends Written {
  readonly id: string;
  readonly creator: string;
  readonly parent: string | null;
  team: string;
  version: number;
  isDeleted: boolean;
  isAnswered: boolean;
  /** One entry for each version, with the actor and the event types. */
  readonly history: { readonly by: string; readonly types: readonly string[] }[];
  readonly followers: Set<string>;
  readonly relations: { readonly type: string; readonly id: string }[];
  readonly clocks: SlaClock[];
  comments: number;
}

export type Act =
  | { do: 'create'; by: string; id: string; team: string; parent: string | null; written: Partial<Written> }
  | { do: 'update'; by: string; id: string; patch: Partial<Written> }
  | { do: 'move'; by: string; id: string; team: string }
  | { do: 'delete' | 'restore'; by: string; id: string }
  | { do: 'comment'; by: string; id: string; mentions: readonly string[] }
  | { do: 'block' | 'duplicate'; by: string; id: string; other: string }
  | { do: 'dropLabel'; by: string; label: string }
  | { do: 'post'; by: string; project: string }
  | { do: 'readAll'; by: string };

const blank: Written = {
  ...{ title: '', state: 'backlog', priority: 'none', assignee: null, labels: [], project: null },
  ...{ milestone: null, estimate: null, cycle: null, dueDate: null, fields: {} },
};
/** The name of the plugin as an actor. */
export const plugin = 'plugin';
const byItself = 'system';

export class Model {
  readonly issues = new Map<string, Issue>();
  readonly inboxes = new Inboxes();
  readonly policies: Policy[] = [];
  readonly projects = new Map<string, { readonly people: readonly string[] }>();
  readonly cycles: Cycles;
  /** Number of issue events by actor, then by type. */
  readonly audit = new Map<string, Map<string, number>>();
  /** Teams whose new issues go to triage. */
  readonly triaged = new Set<string>();
  private readonly dropped = new Set<string>();

  private now: number;

  constructor(now: number, rhythms: readonly Rhythm[]) {
    this.now = now;
    this.cycles = new Cycles(rhythms, now);
  }

  live = (): Issue[] => [...this.issues.values()].filter(({ isDeleted }) => !isDeleted);

  /** Advances time: days and cycles end, and targets are missed. */
  pass(to: number): void {
    this.cycles.pass(to, this.issues, (issue, cycle) => this.change(issue, byItself, { cycle }));
    for (const issue of this.issues.values())
      for (const notified of passTime(issue, to))
        if (!issue.isDeleted) {
          const readers = issue.assignee === null ? [...issue.followers] : [issue.assignee];
          this.inboxes.notify(issue.id, byItself, [[notified.reason, readers]]);
        }
    this.now = to;
  }

  apply(act: Act): void {
    switch (act.do) {
      case 'create':
        return this.create(act);
      case 'readAll':
        return this.inboxes.readAll(act.by);
      case 'post':
        return this.inboxes.notify(null, act.by, [
          ['project_update', this.projects.get(act.project)!.people],
        ]);
      case 'dropLabel':
        return this.dropLabel(act);
      default:
        return this.applyTo(this.issues.get(act.id)!, act);
    }
  }

  private applyTo(
    issue: Issue,
    act: Exclude<Act, { do: 'create' | 'readAll' | 'post' | 'dropLabel' }>,
  ): void {
    switch (act.do) {
      case 'update':
        return this.change(issue, act.by, act.patch);
      case 'move':
        return this.change(issue, act.by, { team: act.team, cycle: null }, [
          'issue.moved',
          'issue.state_changed',
        ]);
      case 'delete':
        issue.isDeleted = true;
        return this.note(issue, act.by, ['issue.deleted']);
      case 'restore':
        issue.isDeleted = false;
        issue.labels = issue.labels.filter((label) => !this.dropped.has(label));
        issue.cycle = this.cycles.retainedCycle(issue);
        return this.note(issue, act.by, ['issue.restored']);
      case 'comment':
        return this.comment(issue, act);
      case 'block':
        return void issue.relations.push({ type: 'blocks', id: act.other });
      case 'duplicate':
        issue.relations.push({ type: 'duplicate_of', id: act.other });
        return this.change(issue, act.by, { state: 'duplicate' });
    }
  }

  private create({ by, id, team, parent, written }: Act & { do: 'create' }): void {
    const state = this.triaged.has(team) ? 'triage' : 'backlog';
    const issue: Issue = {
      ...{ ...blank, state, ...written, id, team, parent, creator: by, version: 0 },
      ...{ isDeleted: false, isAnswered: false, history: [], relations: [], clocks: [], comments: 0 },
      followers: new Set([by]),
    };
    this.issues.set(id, issue);
    this.note(issue, by, ['issue.created']);
    this.notifyOf(
      issue,
      by,
      { ...(issue.assignee === null ? {} : { assignee: issue.assignee }), state: issue.state },
      false,
    );
    if (!issue.title.startsWith('Crash')) return;
    this.change(issue, plugin, { priority: 'urgent' });
    this.comment(issue, { do: 'comment', by: plugin, id, mentions: [] });
  }

  private change(issue: Issue, by: string, patch: Partial<Issue>, also: readonly string[] = []): void {
    const moved = Object.keys(patch).filter(
      (name) => JSON.stringify(patch[name as keyof Issue]) !== JSON.stringify(issue[name as keyof Issue]),
    );
    if (moved.length === 0) return;
    const isTriaged = issue.state === 'triage' && moved.includes('state');
    Object.assign(issue, patch);
    const meant = { state: 'issue.state_changed', assignee: 'issue.assigned', labels: 'issue.labeled' };
    const types = Object.entries(meant).flatMap(([name, type]) => (moved.includes(name) ? type : []));
    const isDeclined = issue.state === 'canceled' || issue.state === 'duplicate';
    if (isTriaged) types.push(isDeclined ? 'issue.triage_declined' : 'issue.triage_accepted');
    this.note(issue, by, [...new Set(['issue.updated', ...types, ...also])]);
    const notified = Object.fromEntries(moved.map((name) => [name, issue[name as keyof Issue]]));
    this.notifyOf(issue, by, also.includes('issue.moved') ? { state: issue.state } : notified, true);
  }

  private note(issue: Issue, by: string, types: readonly string[]): void {
    issue.version++;
    issue.history.push({ by, types: types.toSorted() });
    for (const type of types) this.count(by, type);
    heed(issue, this.policies, this.now);
  }

  private count(by: string, type: string): void {
    const counts = this.audit.get(by) ?? new Map<string, number>();
    this.audit.set(by, counts.set(type, (counts.get(type) ?? 0) + 1));
  }

  private notifyOf(issue: Issue, by: string, moved: Partial<Issue>, isChange: boolean): void {
    const { assignee, state } = moved;
    const isWatched = ['state', 'priority', 'assignee', 'dueDate'].some((name) => name in moved);
    this.inboxes.notify(issue.id, by, [
      ['assigned', assignee ? [assignee] : []],
      ['subscribed', isChange && isWatched ? [...issue.followers] : []],
      ['triage', state === 'triage' ? [...this.inboxes.admins] : []],
    ]);
    if (assignee && !this.inboxes.isGone(assignee)) issue.followers.add(assignee);
  }

  private comment(issue: Issue, { by, mentions }: Act & { do: 'comment' }): void {
    issue.comments++;
    this.count(by, 'comment.added');
    if (by !== plugin && by !== issue.creator) {
      issue.isAnswered = true;
      heed(issue, this.policies, this.now, true);
    }
    this.inboxes.notify(issue.id, by, [
      ['mentioned', mentions],
      ['subscribed', [...issue.followers]],
    ]);
    for (const member of [...mentions, ...(by === plugin ? [] : [by])]) issue.followers.add(member);
  }

  private dropLabel({ by, label }: Act & { do: 'dropLabel' }): void {
    this.dropped.add(label);
    for (const issue of this.issues.values()) {
      if (!issue.labels.includes(label)) continue;
      // The plugin skips a deleted issue until it is restored.
      if (!issue.isDeleted) this.change(issue, by, { labels: issue.labels.filter((one) => one !== label) });
    }
  }
}
