// Keyset cursors: the sort values of the last row, authenticated and bound to their list. A cursor of another list, workspace or
// filter, or with one bit changed, is refused (docs/spec/api.md › Lists).
import { ApiError } from './errors/errors.ts';
import type { Sealing } from './secrets/sealing.ts';

export type CursorValue = string | number | null;

/** @param list scope of the cursor: workspace, route, filter and sort as one string */
export function encodeCursor(sealing: Sealing, list: string, values: readonly CursorValue[]): string {
  const body = Buffer.from(JSON.stringify(values)).toString('base64url');
  return `${body}.${sealing.sign(body, `cursor:${list}`)}`;
}

/** @throws ApiError invalid_cursor */
export function decodeCursor(sealing: Sealing, list: string, cursor: string): CursorValue[] {
  const dot = cursor.indexOf('.');
  const body = cursor.slice(0, dot);
  if (dot < 1 || !sealing.verify(body, `cursor:${list}`, cursor.slice(dot + 1)))
    throw new ApiError(
      'invalid_cursor',
      'The cursor was not issued for this list, filter and sort. Start again without `after`.',
    );
  return JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as CursorValue[];
}
