import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { error, note, some, type Check } from '../../kernel/checks.ts';
import { blobPath, blobsIn, digestIn } from '../../platform/store/files/blobs.ts';

export const fileCheck: Check = {
  name: 'files',
  holds: 'the contents of all attachments exist and are undamaged',
  readsDatabase: true,
  async look({ dir, rows }) {
    const folder = join(dir, 'blobs');
    const referenced = rows<{ sha256: string; id: string }>(
      'SELECT sha256, min(id) AS id FROM attachments WHERE deleted_at IS NULL AND sha256 IS NOT NULL GROUP BY sha256',
    );
    const bad: string[] = [];
    for (const { sha256, id } of referenced) {
      const digest = digestIn(sha256);
      if (!digest || (await sumOf(blobPath(folder, digest))) !== sha256) bad.push(`${id} (${sha256})`);
    }
    const known = new Set<string>(referenced.map(({ sha256 }) => sha256));
    const unneeded = blobsIn(folder).filter((name) => !known.has(name)).length;
    return [
      ...(bad.length > 0
        ? [
            error(
              `The contents of attachments are missing or damaged: ${some(bad)}. Restore them into ${folder} from a backup, or delete the attachments.`,
            ),
          ]
        : []),
      ...(unneeded > 0
        ? [note(`${unneeded} files belong to no attachment. A running server removes them within hours.`)]
        : []),
    ];
  },
};

/** Returns null if there is no regular file; reading a named pipe would never end. */
async function sumOf(path: string): Promise<string | null> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return null;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
