// Classifies the data directory at start: own, new, moved while no server ran, or assembled from files of different times, which is refused, because its database state never existed.
// docs/decisions/0023.
import { existsSync } from 'node:fs';
import { readLogHead, type LogHead } from '../log-head.ts';
import { filesOf, readIdentity, type DirectoryIdentity, type IdentityFiles } from './identity.ts';
import { openPageFile } from './pages/page-file.ts';
import { isEmptyFile } from './verify.ts';

export interface DataDirectory extends IdentityFiles {
  readonly path: string;
  readonly identity: string;
}

export type Recognised = 'own' | 'new' | 'moved';

const wayBack =
  'Make a backup of the original with `tatami backup` and restore it, or stop its server and copy the whole directory again. ' +
  'If the original is gone, `tatami doctor` reports the content of this copy.';

export const incompleteCopy = (missing: string): string =>
  `${missing} is missing: this is not a complete data directory, and the database alone may lack acknowledged writes or be damaged. ${wayBack}`;

/** @throws Error if the files do not belong together */
export function recognise(dir: DataDirectory): Recognised {
  const identity = readIdentity(dir.identity);
  const head = existsSync(dir.logHead) ? readLogHead(dir.logHead) : null;
  if (isEmptyFile(dir.database)) return recogniseNew(dir, identity ?? null, head);
  if (identity === undefined) throw new Error(incompleteCopy(dir.identity));
  if (identity === null)
    throw new Error(
      `${dir.identity} is damaged: Tatami cannot tell if this is the original directory or a copy of it. ` +
        'Restore a backup with `tatami restore`, or check and accept the database with `tatami doctor` and `tatami doctor fix accept`.',
    );
  if (!head) throw new Error(incompleteCopy(dir.logHead));
  return identity.files === filesOf(dir) ? 'own' : recogniseCopy(dir, identity, head);
}

function recogniseNew(dir: DataDirectory, identity: DirectoryIdentity | null, head: LogHead | null): 'new' {
  const position = Math.max(identity?.head.position ?? 0, head?.position ?? 0);
  if (position > 0)
    throw new Error(`${dir.database} is missing or empty, but it had ${position} commits. ${wayBack}`);
  return 'new';
}

function recogniseCopy(dir: DataDirectory, identity: DirectoryIdentity, head: LogHead): 'moved' {
  if (identity.state === 'open')
    throw new Error(
      `${dir.path} is a copy of a data directory whose server was running or had been killed: its files are from different moments, and acknowledged writes may be missing or damaged. ${wayBack}`,
    );
  const isWhole =
    identity.head.position === head.position &&
    identity.head.hash === head.hash &&
    isEmptyFile(`${dir.database}-wal`);
  if (!isWhole)
    throw new Error(
      `${dir.path} was assembled from copies of different moments: acknowledged writes may be missing or damaged. ${wayBack}`,
    );
  return 'moved';
}

/** Returns the schema version; 0 if it cannot be read. */
export function schemaOfFile(database: string): number {
  if (isEmptyFile(database)) return 0;
  const file = openPageFile(database);
  try {
    return file.header()?.schema ?? 0;
  } finally {
    file.close();
  }
}
