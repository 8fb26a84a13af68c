// What host calls return: the bodies of the REST resources. Fields that a newer server adds are there without a type.

export type Priority = 'none' | 'low' | 'medium' | 'high' | 'urgent';

export interface Issue {
  readonly id: string;
  /** `TEAM-12`; null for an issue that this run has staged and that is not committed yet. */
  readonly identifier: string | null;
  readonly number: number | null;
  readonly title: string;
  /** Markdown; null without one. Cut at 64 KiB, `truncated` then says so. */
  readonly description: string | null;
  readonly truncated?: boolean;
  readonly state: { readonly id: string; readonly name: string; readonly type: string };
  readonly priority: Priority;
  readonly assignee: { readonly id: string; readonly name: string } | null;
  readonly team: { readonly id: string; readonly key: string; readonly name: string };
  readonly labels: readonly { readonly id: string; readonly name: string }[];
  readonly project: unknown;
  readonly parent: unknown;
  readonly estimate: number | null;
  readonly dueDate: string | null;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly url: string;
}

export interface IssuePatch {
  title?: string;
  description?: string | null;
  priority?: Priority;
  stateId?: string;
  assigneeId?: string | null;
  /** Names or ids; the whole list. */
  labels?: string[];
  projectId?: string | null;
  parentId?: string | null;
  estimate?: number | null;
  dueDate?: string | null;
}

export interface IssueQuery {
  team?: string;
  state?: string;
  assignee?: string;
  label?: string;
  priority?: Priority;
  updatedSince?: string;
  filter?: unknown;
  sort?: string;
  /** Only these fields of each issue: keeps pages small. */
  fields?: string | string[];
  limit?: number;
  after?: string;
}

export interface Comment {
  readonly id: string;
  readonly body: string;
  readonly parentId?: string | null;
  readonly createdAt: string;
}

export interface Label {
  readonly id: string;
  readonly name: string;
}

export interface Project {
  readonly id: string;
  readonly name: string;
}

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}
