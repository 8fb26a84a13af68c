// Recognises the data directory at start: its own, new, of an earlier version, moved as a whole while no server ran, or put together from
// files that do not belong together. The last of these is refused: it would run, on a database that never was. docs/decisions/0023.
import { existsSync } from 'node:fs';
import { emptyHead, readLogHead, type LogHead } from '../log-head.ts';
import { filesOf, readIdentity, type Identity, type Kept } from './identity.ts';
import { openPageFile } from './page-file.ts';
import { isEmptyFile } from './verify.ts';

export interface Directory extends Kept {
  readonly path: string;
  readonly identity: string;
}

export type Recognised = 'own' | 'new' | 'earlier' | 'moved';

/** Since this schema a data directory has an identity. */
export const identitySchema = 7;

const wayBack =
  'Make a backup of the original with `tatami backup` and restore that, or stop its server and copy the whole directory again. ' +
  'If the original is gone, `tatami doctor` says what this copy holds.';

export const incompleteCopy = (missing: string): string =>
  `${missing} is missing: this is not a whole data directory, and the database alone may lack acknowledged writes or be damaged. ${wayBack}`;

/** @throws Error where the files do not belong together */
export function recognise(dir: Directory): Recognised {
  const identity = readIdentity(dir.identity);
  const head = existsSync(dir.logHead) ? readLogHead(dir.logHead) : null;
  if (isEmptyFile(dir.database)) return recogniseNew(dir, identity ?? null, head);
  if (identity === undefined) return recogniseEarlier(dir);
  if (identity === null)
    throw new Error(
      `${dir.identity} is damaged, so that nothing tells whether this is the original directory or a copy of it. ` +
        'Restore a backup with `tatami restore`, or have `tatami doctor` look at the database and accept it.',
    );
  if (!head) throw new Error(incompleteCopy(dir.logHead));
  return identity.files === filesOf(dir) ? 'own' : recogniseCopy(dir, identity, head);
}

function recogniseNew(dir: Directory, identity: Identity | null, head: LogHead | null): 'new' {
  const position = Math.max(identity?.head.position ?? 0, head?.position ?? 0);
  if (position > 0)
    throw new Error(`${dir.database} is missing or empty, and it held ${position} commits. ${wayBack}`);
  return 'new';
}

function recogniseEarlier(dir: Directory): 'earlier' {
  if (schemaOfFile(dir.database) >= identitySchema) throw new Error(incompleteCopy(dir.identity));
  return 'earlier';
}

function recogniseCopy(dir: Directory, identity: Identity, head: LogHead): 'moved' {
  if (identity.state === 'open')
    throw new Error(
      `${dir.path} is a copy of a data directory whose server was running, or had been killed: its files are from different moments, and acknowledged writes may be missing or damaged. ${wayBack}`,
    );
  const isWhole =
    identity.head.position === head.position &&
    identity.head.hash === head.hash &&
    isEmptyFile(`${dir.database}-wal`);
  if (!isWhole)
    throw new Error(
      `${dir.path} was put together from copies of different moments: acknowledged writes may be missing or damaged. ${wayBack}`,
    );
  return 'moved';
}

/** 0 where it cannot be read. */
export function schemaOfFile(database: string): number {
  if (isEmptyFile(database)) return 0;
  const file = openPageFile(database);
  try {
    return file.header()?.schema ?? 0;
  } finally {
    file.close();
  }
}

/** A directory of an earlier version that was killed in its first start has none yet. */
export const headOf = (dir: Kept): LogHead =>
  existsSync(dir.logHead) ? readLogHead(dir.logHead) : emptyHead;
