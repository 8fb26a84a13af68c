const times = (count: number): string => `${count} ${count === 1 ? 'time' : 'times'}`;

/** Texts of the health of an automation, its runs and its revisions. */
export const text = {
  facts: 'Activity',
  lastActed: 'Last acted',
  lastRun: 'Last run',
  never: 'Never',
  runsIn: (days: number) => `Runs in ${days} days`,
  runs: (total: number, acted: number, proposed: number, failed: number) =>
    `${total}, of which ${acted} acted, ${proposed} proposed, ${failed} failed`,
  today: 'Today',
  usage: (runs: number, cpuMs: number) =>
    `${runs} ${runs === 1 ? 'run' : 'runs'}, ${Math.round(cpuMs)} ms of CPU time`,
  waitsFor: (quantity: string) => `Until more ${quantity} are available:`,
  quantities: { cpuMs: 'CPU time', runs: 'runs', calls: 'calls', egressBytes: 'bytes to other servers' },
  proposals: 'Open proposals',

  overruled: 'Overruled by people',
  notOverruled: 'People changed nothing back.',
  overruledShare: (count: number, all: number, share: number | null) =>
    `People changed ${count} of ${all} back${share === null ? '' : ` (${Math.round(share * 100)} %)`}.`,
  overruledBy: (field: string, set: string, now: string, by: string) =>
    `${field}: set to ${set}, then to ${now} by ${by}`,
  failures: 'Failures',
  noFailures: 'No run failed.',
  failed: (message: string, count: number) => `${message} (${times(count)})`,
  showRun: 'Show the run',
  showRunOf: (what: string) => `Show the run: ${what}`,
  loops: 'Loops',
  noLoops: 'It did not trigger itself.',
  conflicts: 'Conflicts',
  noConflicts: 'No other automation sets the same fields otherwise.',
  ofBacktest: 'It has not acted yet, so its backtest is the source.',
  conflictWith: {
    automation: (field: string, count: number) => `sets ${field} otherwise, ${times(count)}`,
    plugin: (field: string, count: number) => `(plugin) sets ${field} otherwise, ${times(count)}`,
    system: (field: string, count: number) => `sets ${field} otherwise, ${times(count)}`,
  },
  example: (ours: string, theirs: string, name: string) =>
    `this automation set ${ours}, ${name} set ${theirs}`,

  recentRuns: 'Recent runs',
  noRunsHint: 'Runs appear here once the automation is enabled and its trigger occurs.',
  needsPlugins: 'Your role does not show single runs.',
  time: 'Time',
  status: 'Status',
  trigger: 'Trigger',
  effects: 'Effects',
  details: 'Details',
  runTitle: 'Run',
  showProposal: 'Show its proposal',
  undo: 'Undo this run',
  undoTitle: 'Undo this run?',
  undoHint:
    'Fields get their former values, unless somebody changed them since. Created objects are deleted.',
  undone: 'undone',
  isUndone: 'This run was undone.',
  skipped: 'Left unchanged',
  skippedOf: (what: string, field: string | null) => `${what}${field === null ? '' : `, ${field}`}: `,
  skipReasons: {
    changed: 'the value has changed since',
    bound: 'a value that depends on it has changed since',
    deleted: 'it was deleted',
    gone: 'it no longer exists',
    worked_on: 'others have worked on it since',
    irreversible: 'the change cannot be undone',
  },
  changedBy: (name: string) => `(by ${name})`,
  handlers: { event: 'Event', schedule: 'Schedule', action: 'By hand', route: 'Request' },

  revisions: 'Revisions',
  revision: (number: number, by: string) => `Revision ${number} by ${by}`,
  current: 'Current',
  restore: 'Restore',
  restoreOf: (number: number) => `Restore revision ${number}`,
  restored: 'The revision was restored, and its backtest runs.',

  address: 'Address for requests',
  openAddress: 'Open the address',
  addressHint:
    'Programs send signed requests to an address of this automation. Opening it again keeps the address and replaces the secret.',
  closeAddress: 'Close the address',
  closed: 'The address is closed.',
  opened: 'Address and secret',
} as const;
