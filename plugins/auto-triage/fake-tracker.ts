// In-memory tracker for unit tests: issues, labels and `kv` behind the same `ctx` calls, including pagination.
import {
  PluginError,
  QuotaExceeded,
  type Comment,
  type Issue,
  type IssueQuery,
  type Label,
  type Page,
} from '@tatami/sdk/plugin';
import { forgetIndexes } from './duplicates/store.ts';
import type { LearnContext, Settings, TriageContext } from './context.ts';

/** Limit of a host call's result in characters, smaller than the real one so that tests reach it. */
const answerMax = 20_000;

/** Fields common to all objects. */
const stored = { version: 1, createdAt: '', updatedAt: '' };
const somebody = { kind: 'user', id: 'usr_1', name: 'Ana' } as const;

type FakeIssueInput = {
  title: string;
  description: string;
  team?: string;
  labels?: readonly string[];
  priority?: Issue['priority'];
};

export class FakeTracker {
  readonly issues = new Map<string, Issue>();
  readonly comments: { issueId: string; body: string }[] = [];
  readonly kv = new Map<string, string>();
  readonly logs: string[] = [];
  labels = ['Bug', 'feature', 'question', 'urgent'];
  calls = 0;
  cpuLeftMs = 10_000;
  /** CPU time of one slice of training, in milliseconds. */
  sliceMs = 0;
  settings: Settings = {
    threshold: 0.5,
    suggest: false,
    rule: true,
    duplicates: true,
    priority: 'suggest',
  };

  constructor() {
    forgetIndexes();
  }

  add({ title, description, team = 'ENG', labels = [], priority = 'none' }: FakeIssueInput): Issue {
    const number = this.issues.size + 1;
    const issue: Issue = {
      id: `iss_${number}`,
      identifier: `${team}-${number}`,
      number,
      title,
      description,
      team: { id: team, key: team, name: team },
      labels: labels.map((name) => this.#label(name)),
      fields: {},
      state: { id: 'wfs_1', name: 'Backlog', type: 'backlog' },
      priority,
      assignee: null,
      creator: somebody,
      project: null,
      milestone: null,
      parent: null,
      subOrder: null,
      snoozedUntil: null,
      startedAt: null,
      completedAt: null,
      canceledAt: null,
      estimate: null,
      cycle: null,
      dueDate: null,
      slaDueAt: null,
      externalSource: null,
      externalId: null,
      deletedAt: null,
      url: '',
      ...stored,
    };
    this.issues.set(issue.id, issue);
    return issue;
  }

  relabel(id: string, labels: readonly string[]): void {
    this.change(id, { labels: labels.map((name) => this.#label(name)) });
  }

  change(id: string, patch: Partial<Issue>): void {
    const issue = this.get(id);
    this.issues.set(id, { ...issue, ...patch, version: issue.version + 1 });
  }

  get(id: string): Issue {
    const issue = this.issues.get(id);
    if (!issue) throw new PluginError('No such issue.', 'not_found');
    return issue;
  }

  namesOn(id: string): string[] {
    return this.get(id).labels.map(({ name }) => name);
  }

  context(): TriageContext & LearnContext {
    const log = (...parts: unknown[]): void => void this.logs.push(parts.join(' '));
    const count = <T>(value: () => T): Promise<T> => {
      this.calls++;
      return new Promise((resolve) => resolve(value()));
    };
    return {
      settings: this.settings,
      log: { debug: log, info: log, warn: log, error: log },
      run: { cpuLeftMs: () => this.cpuLeftMs },
      sleep: () => {
        this.cpuLeftMs -= this.sliceMs;
        return Promise.resolve();
      },
      issues: {
        update: (id, patch, options) =>
          count(() => {
            if (options?.ifVersion !== this.get(id).version) throw new PluginError('Changed.', 'conflict');
            if (patch.labels) this.relabel(id, patch.labels);
            if (patch.priority) this.change(id, { priority: patch.priority });
            return this.get(id);
          }),
        list: (query) => count(() => this.#list(query)),
      },
      comments: {
        create: (issueId, { body }) => count(() => this.#comment(issueId, body)),
      },
      labels: {
        list: () =>
          count(() =>
            page(
              this.labels.map((name) => this.#label(name)),
              0,
              100,
            ),
          ),
      },
      kv: {
        get: (key) => count((): unknown => JSON.parse(this.kv.get(key) ?? 'null')),
        set: (key, value) => count(() => void this.kv.set(key, JSON.stringify(value))),
        delete: (key) => count(() => void this.kv.delete(key)),
      },
    };
  }

  #list(query: IssueQuery): Page<Issue> {
    const filter = (query.filter ?? {}) as {
      team?: { nin: string[] };
      label?: string[];
      id?: string[];
      priority?: Issue['priority'][];
    };
    const matching = [...this.issues.values()]
      .reverse()
      .filter(({ team }) => query.team === undefined || team.key === query.team)
      .filter(({ team }) => !filter.team?.nin.includes(team.key))
      .filter(({ id }) => !filter.id || filter.id.includes(id))
      .filter(({ priority }) => !filter.priority || filter.priority.includes(priority))
      .filter(({ labels }) => !filter.label || labels.some(({ id }) => filter.label?.includes(id)));
    const answer = page(matching, Number(query.after ?? 0), query.limit ?? 50);
    if (JSON.stringify(answer).length > answerMax) throw new QuotaExceeded('The answer is too large.');
    return answer;
  }

  #comment(issueId: string, body: string): Comment {
    this.comments.push({ issueId, body });
    return {
      id: `cmt_${this.comments.length}`,
      issue: { id: issueId, identifier: null },
      parentId: null,
      body,
      author: somebody,
      resolvedAt: null,
      mentions: [],
      editedAt: null,
      resolvedBy: null,
      deletedAt: null,
      ...stored,
    };
  }

  /** Finds a label by name or id, like the REST API. */
  #label(name: string): Label {
    const known = this.labels.find((label) => label.toLowerCase() === name.replace('lbl_', '').toLowerCase());
    if (known === undefined) throw new PluginError(`There is no label ${name}.`, 'validation_failed');
    return { id: `lbl_${known.toLowerCase()}`, name: known, color: '#8b949e', team: null, ...stored };
  }
}

function page<Item>(items: readonly Item[], start: number, limit: number): Page<Item> {
  const end = start + limit;
  const hasNextPage = end < items.length;
  return {
    data: items.slice(start, end),
    pageInfo: { hasNextPage, endCursor: hasNextPage ? String(end) : null },
  };
}
