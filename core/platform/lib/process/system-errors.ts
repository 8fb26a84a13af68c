// Converts file system errors to messages that say what to do.

const ofPaths: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist, or its directory does not. Check the path.',
  EACCES: 'cannot be accessed by this user. Run the command as another user, or give another path.',
  EPERM: 'cannot be changed by this user. Run the command as another user, or give another path.',
  EEXIST: 'exists and is not a directory. Give another path.',
  ENOTDIR: 'is not inside a directory. Give another path.',
  EISDIR: 'is a directory. Give the path of a file.',
  EROFS: 'is on a read-only file system. Give a path on another one.',
  ENOSPC: 'cannot be written: the disk is full. Free disk space, or give a path on another disk.',
  EDQUOT:
    'cannot be written: the disk quota of this user is used up. Free disk space, or give a path on another disk.',
};

const noMoreFiles = 'The limit of open files is reached. Raise it (LimitNOFILE= in systemd, `ulimit -n`).';

const others: Readonly<Record<string, string>> = {
  EMFILE: noMoreFiles,
  ENFILE: noMoreFiles,
  SQLITE_CANTOPEN:
    'The database cannot be opened. This user needs read and write access to its files, and a sufficient limit of open files (LimitNOFILE= in systemd, `ulimit -n`). Run `tatami doctor` to check both.',
};

/** Message of libsql for a connection that failed with SQLITE_CANTOPEN (14). */
const unopened = /^ConnectionFailed\(.*: 14"\)$/;

/** Returns null for an error that is not a system error or already says what to do. */
export function systemSentence(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = unopened.test(error.message) ? 'SQLITE_CANTOPEN' : 'code' in error ? String(error.code) : '';
  const other = others[code];
  if (other !== undefined) return other;
  const reason = ofPaths[code];
  return reason !== undefined && 'path' in error ? `${String(error.path)} ${reason}` : null;
}
