// API types used by the time machine.
export interface Issue {
  id: string;
  identifier: string;
  title: string;
  priority: string;
  labels: { name: string }[];
}
export interface Run {
  id: string;
  status: string;
  undoneBy: string | null;
}
export interface Proposal {
  id: string;
  status: string;
  reason: string | null;
  runId: string;
  revision: number;
  effects: { id: string; class: string; kind: string; issue: string; decision: string | null }[];
}
export interface Undo {
  id: string | null;
  undid: string[];
  changes: { kind: string; id: string; action: string }[];
  skipped: { id: string; field: string | null; reason: string; ranSet: unknown; now: unknown }[];
  message: string;
}
export interface TrailRoot {
  nodes: {
    id: string;
    parentId: string | null;
    kind: string;
    type: string | null;
    isUndo: boolean;
    run: { undoneBy: string | null } | null;
  }[];
}
export interface Installed {
  pluginVersion: string;
  state: string;
  pending: { version: string; adds: string[] } | null;
}
