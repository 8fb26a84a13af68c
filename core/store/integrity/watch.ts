// Detects if the files that a server has open were moved or replaced, because no later start would find writes to them. Uses only `stat` by
// path: opening and closing a file would drop SQLite's locks.
import { stat } from 'node:fs/promises';
import type { IdentityFiles } from './identity.ts';

const everyMs = 1_000;

/** @returns a function that stops the watch and returns true if the files are currently moved */
export function watchFiles(
  { database, logHead }: IdentityFiles,
  listener: { onMoved(which: string): void; onBack(): void },
): () => boolean {
  const paths = [database, logHead];
  let opened: (string | null)[] | null = null;
  let isMoved = false;
  let looking = false;
  const look = async (): Promise<void> => {
    const now = await Promise.all(paths.map(identityOf));
    opened ??= now;
    const moved = paths.find((_, index) => now[index] !== opened?.[index]);
    if (moved !== undefined && !isMoved) listener.onMoved(moved);
    if (moved === undefined && isMoved) listener.onBack();
    isMoved = moved !== undefined;
    looking = false;
  };
  const lookOnce = (): void => {
    if (looking) return;
    looking = true;
    void look();
  };
  lookOnce();
  const timer = setInterval(lookOnce, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    return isMoved;
  };
}

/** Returns null if the file is missing or its status is unavailable. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}
