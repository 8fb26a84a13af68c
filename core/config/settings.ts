// All settings there are: each has a default, a unit and one sentence. `serve --help` lists them.

interface Key {
  readonly env: string;
  readonly fallback: string;
  readonly text: string;
}

export const keys = {
  dataDir: {
    env: 'TATAMI_DATA_DIR',
    fallback: './data',
    text: 'Directory of the database, the master key and snapshots.',
  },
  port: { env: 'TATAMI_PORT', fallback: '4700', text: 'TCP port to listen on; 0 picks a free one.' },
  host: { env: 'TATAMI_HOST', fallback: '127.0.0.1', text: 'Address to listen on.' },
  keepAlive: {
    env: 'TATAMI_KEEP_ALIVE',
    fallback: '75',
    text: 'Seconds that an idle connection is kept open, more than proxies keep theirs; 0 closes each after its answer.',
  },
  baseUrl: {
    env: 'TATAMI_BASE_URL',
    fallback: '',
    text: 'Public address, without a trailing slash; by default the one listened on.',
  },
  egressAllow: {
    env: 'TATAMI_EGRESS_ALLOW',
    fallback: '',
    text: 'CIDRs of private networks that webhooks may reach, comma-separated.',
  },
  trustedProxy: {
    env: 'TATAMI_TRUSTED_PROXY',
    fallback: '',
    text: 'CIDRs of your reverse proxies, comma-separated: their X-Forwarded-For says who a request without a token comes from.',
  },
  corsOrigins: {
    env: 'TATAMI_CORS_ORIGINS',
    fallback: '*',
    text: 'Sites whose pages may call the API from a browser, comma-separated, such as https://app.example.com; `*` is all, `off` none.',
  },
  rateLimit: {
    env: 'TATAMI_RATE_LIMIT',
    fallback: 'on',
    text: '`off` switches all rate limits off; the headers stay.',
  },
  rateRead: {
    env: 'TATAMI_RATE_READ',
    fallback: '600',
    text: 'Reads a minute per token and route; 0 is unlimited.',
  },
  rateWrite: {
    env: 'TATAMI_RATE_WRITE',
    fallback: '240',
    text: 'Writes a minute per token and route; 0 is unlimited.',
  },
  rateSearch: {
    env: 'TATAMI_RATE_SEARCH',
    fallback: '60',
    text: 'Searches a minute per token and route; 0 is unlimited.',
  },
  rateMember: {
    env: 'TATAMI_RATE_MEMBER',
    fallback: '',
    text: 'Requests a minute per member, with all keys, sessions and apps together; empty is half of the limit per workspace, 0 is unlimited.',
  },
  rateWorkspace: {
    env: 'TATAMI_RATE_WORKSPACE',
    fallback: '3000',
    text: 'Requests a minute per workspace, all tokens together; 0 is unlimited.',
  },
  diskReserve: {
    env: 'TATAMI_DISK_RESERVE',
    fallback: '512',
    text: 'Megabytes of free disk below which readiness and alerts warn (of a small disk, a tenth of it); 0 never does.',
  },
  fileSize: {
    env: 'TATAMI_FILE_SIZE',
    fallback: '25',
    text: 'Megabytes that a file attached to an issue may have.',
  },
  fileQuota: {
    env: 'TATAMI_FILE_QUOTA',
    fallback: '5120',
    text: 'Megabytes that the files of a workspace may have together.',
  },
  metricsPort: {
    env: 'TATAMI_METRICS_PORT',
    fallback: '',
    text: 'TCP port of /metrics for Prometheus; 0 picks a free one, by default there is none.',
  },
  metricsHost: {
    env: 'TATAMI_METRICS_HOST',
    fallback: '127.0.0.1',
    text: 'Address of /metrics, which asks nobody for a key.',
  },
  readBudget: {
    env: 'TATAMI_READ_BUDGET',
    fallback: '2000',
    text: 'Milliseconds of processor time that one list or search may take; 0 is unlimited.',
  },
  keepRuns: {
    env: 'TATAMI_KEEP_RUNS',
    fallback: '14',
    text: 'Days that plugin runs are kept after they ended; `forever` keeps them.',
  },
  keepRecordings: {
    env: 'TATAMI_KEEP_RECORDINGS',
    fallback: '14',
    text: 'Days that the recordings of plugin runs are kept after they ended; `forever` keeps them.',
  },
  keepDeliveries: {
    env: 'TATAMI_KEEP_DELIVERIES',
    fallback: '30',
    text: 'Days that deliveries, their attempts, replays and what plugins missed are kept after they ended; `forever` keeps them.',
  },
  keepDeleted: {
    env: 'TATAMI_KEEP_DELETED',
    fallback: '90',
    text: 'Days that what was deleted, removed or revoked can still be restored or looked up; `forever` keeps it.',
  },
  keepEvents: {
    env: 'TATAMI_KEEP_EVENTS',
    fallback: 'forever',
    text: 'Days that what events say stays in the database; then it moves to files in `archive/`, where it is still read. `forever` leaves it.',
  },
  keepSnapshots: {
    env: 'TATAMI_KEEP_SNAPSHOTS',
    fallback: '90',
    text: 'Days that snapshots from before an upgrade are kept, beside the newest one; `forever` keeps them.',
  },
  keepUndo: {
    env: 'TATAMI_KEEP_UNDO',
    fallback: '30',
    text: 'Days that what plugin runs and undos changed is kept so that it can be undone; `forever` keeps it.',
  },
  sandboxJail: {
    env: 'TATAMI_SANDBOX_JAIL',
    fallback: 'auto',
    text: '`strict` refuses to start where the kernel cannot jail plugins fully; `off` runs them without the jail.',
  },
  sandboxSplit: {
    env: 'TATAMI_SANDBOX_SPLIT',
    fallback: 'none',
    text: "`workspace` or `install` gives each its own sandbox process, so that one taken over is not the others'; `none` shares one.",
  },
  recordRuns: {
    env: 'TATAMI_RECORD_RUNS',
    fallback: 'on',
    text: '`off` records no plugin runs, which can then not be replayed.',
  },
  pluginTrust: {
    env: 'TATAMI_PLUGIN_TRUST',
    fallback: '',
    text: 'Publishers whose signed plugins are trusted, comma-separated, such as acme=KEY, with the public key of `tatami plugin keygen`.',
  },
  pluginUnsigned: {
    env: 'TATAMI_PLUGIN_UNSIGNED',
    fallback: 'confirm',
    text: '`refuse` installs only what a trusted publisher signed; `confirm` takes others by their hash, and without trusted publishers as they come.',
  },
  identityProviders: {
    env: 'TATAMI_IDENTITY_PROVIDERS',
    fallback: '',
    text: 'File that names outside OpenID providers by which people may sign in, a JSON list; by default there are none.',
  },
  nodePath: {
    env: 'TATAMI_NODE',
    fallback: '',
    text: 'Path of a Node 24 for the sandbox; by default the one installed with Tatami.',
  },
  copyTo: {
    env: 'TATAMI_COPY_TO',
    fallback: '',
    text: 'Directory, or s3://bucket/prefix, that what is written is copied to all the time; by default none.',
  },
  copyEvery: {
    env: 'TATAMI_COPY_EVERY',
    fallback: '5',
    text: 'Seconds between two steps of the continuous copy: what losing the disk may lose.',
  },
  copyKeep: {
    env: 'TATAMI_COPY_KEEP',
    fallback: '168',
    text: 'Hours back to which a restore from the continuous copy can go.',
  },
  backupDir: {
    env: 'TATAMI_BACKUP_DIR',
    fallback: '',
    text: 'Directory that full backups are made in, on another disk if you can; without one none are made.',
  },
  backupSchedule: {
    env: 'TATAMI_BACKUP_SCHEDULE',
    fallback: '0 3 * * *',
    text: 'When backups are made: five cron fields, in UTC.',
  },
  backupKeep: {
    env: 'TATAMI_BACKUP_KEEP',
    fallback: 'last=3,daily=7,weekly=4,monthly=6',
    text: 'Which backups are kept: the last ones, and the newest of each of the last days, weeks and months that have one.',
  },
  smtpUrl: {
    env: 'TATAMI_SMTP_URL',
    fallback: '',
    text: 'SMTP server that mail is sent over, such as smtps://user:password@mail.example.com; by default none is sent.',
  },
  mailFrom: {
    env: 'TATAMI_MAIL_FROM',
    fallback: '',
    text: 'Sender of mails, such as "Tatami <tatami@example.com>"; needed to send any.',
  },
  logLevel: {
    env: 'TATAMI_LOG_LEVEL',
    fallback: 'info',
    text: 'Least level logged: debug, info, warn or error.',
  },
} as const satisfies Record<string, Key>;
