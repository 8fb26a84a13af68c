// Turns system errors about files into sentences that say what to do.

const ofPaths: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist, or the directory of it does not. Check the path.',
  EACCES: 'may not be used by this user. Type this as a user who may, or name another path.',
  EPERM: 'may not be changed by this user. Type this as a user who may, or name another path.',
  EEXIST: 'exists already and is no directory. Name another path.',
  ENOTDIR: 'is not below a directory. Name another path.',
  EISDIR: 'is a directory. Name a file.',
  EROFS: 'is on a read-only file system. Name a path on another one.',
  ENOSPC: 'cannot be written: the disk is full. Make room, or name a path on another disk.',
  EDQUOT: 'cannot be written: the quota of this user is used up. Make room, or name a path on another disk.',
};

const noMoreFiles =
  'No more files may be open at a time. Raise the limit (LimitNOFILE= in systemd, `ulimit -n`).';

const others: Readonly<Record<string, string>> = {
  EMFILE: noMoreFiles,
  ENFILE: noMoreFiles,
  SQLITE_CANTOPEN:
    'The database cannot be opened. This user must be able to read and write its files, and to have enough files open (LimitNOFILE= in systemd, `ulimit -n`). `tatami doctor` looks at both.',
};

/** Message of libsql for a connection that failed with SQLITE_CANTOPEN (14). */
const unopened = /^ConnectionFailed\(.*: 14"\)$/;

/** Null for an error that is not one of the system, or that says what to do already. */
export function systemSentence(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = unopened.test(error.message) ? 'SQLITE_CANTOPEN' : 'code' in error ? String(error.code) : '';
  const other = others[code];
  if (other !== undefined) return other;
  const reason = ofPaths[code];
  return reason !== undefined && 'path' in error ? `${String(error.path)} ${reason}` : null;
}
