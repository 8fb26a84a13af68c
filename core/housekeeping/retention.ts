// How long each table keeps its rows: every table of the schema stands here, and what makes its rows go.
// docs/spec/durability.md › What is removed.
import type { Config } from '../config.ts';

/** A setting in days; those of this list that are null keep for ever. */
export type Kept = Config['kept'];

type Bound =
  /** Housekeeping removes them so long after they ended, were deleted or expired. */
  | { readonly keptFor: keyof Kept }
  /** Housekeeping removes them as soon as nothing needs them. */
  | { readonly keptWhile: string }
  /** Something else bounds them. */
  | { readonly boundBy: string }
  /** They are what Tatami is for. */
  | { readonly keptForEver: string };

const few = 'people make them one by one, and issues, keys and history refer to them';

export const retention: Readonly<Record<string, Bound>> = {
  issues: { keptFor: 'deleted' },
  issue_labels: { keptWhile: 'their issue and their label are there' },
  comments: { keptFor: 'deleted' },
  labels: { keptFor: 'deleted' },
  plugins: { keptFor: 'deleted' },
  endpoints: { keptFor: 'deleted' },
  api_keys: { keptFor: 'deleted' },
  members: { keptForEver: few },
  teams: { keptForEver: few },
  states: { keptForEver: few },
  projects: { keptForEver: few },
  workspaces: { keptForEver: few },
  events: {
    keptForEver: 'they are history, audit log and inbox; what old ones say may be moved to files (`events`)',
  },
  event_files: { boundBy: 'one for some hundred archived events' },
  runs: { keptFor: 'runs' },
  deliveries: { keptFor: 'deliveries' },
  attempts: { keptWhile: 'their delivery is there' },
  replays: { keptFor: 'deliveries' },
  plugin_gaps: { keptFor: 'deliveries' },
  endpoint_health: { keptWhile: 'their endpoint is there' },
  plugin_code: { keptWhile: 'an install runs it' },
  plugin_kv: { keptWhile: 'their install is there; each has a quota' },
  plugin_kv_usage: { keptWhile: 'their install is there' },
  idempotency: { boundBy: 'each expires after a day' },
  due_work: { boundBy: 'each goes with the work it stands for' },
  cursors: { boundBy: 'one for each consumer and workspace' },
  past_wants: { boundBy: 'each goes once its consumer has read on' },
  wall_clock: { boundBy: 'one for each kind of work' },
  log_cuts: { boundBy: 'one for each restore' },
  installation: { boundBy: 'one row' },
  log_head: { boundBy: 'one row' },
  migrations: { boundBy: 'one for each version of the schema' },
};
