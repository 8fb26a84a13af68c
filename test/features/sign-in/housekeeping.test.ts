import { expect, test } from 'bun:test';
import { Database } from 'bun:sqlite';
import { createHousekeeping } from '../../../core/app/housekeeping/housekeeping.ts';
import { join } from 'node:path';
import { newReset } from '../../../core/features/sign-in/resets.ts';
import { startApp } from '../../app.ts';
import { createCommunity } from './joined.ts';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

test('housekeeping deletes expired sessions, invitations and password reset links', async () => {
  const app = await startApp();
  try {
    const people = createCommunity(app);
    const { visitor } = await people.joined();
    await people.invite(await people.addMember());
    const { store, log, blobs } = app.services;
    const [account] = rowsOf<{ id: string; email_key: string }>(app.dataDir, 'accounts');
    await store.commit([newReset(app.services, { id: account!.id, emailKey: account!.email_key }, false).op]);
    const retention = {
      runs: 14,
      recordings: 14,
      undo: 30,
      deliveries: 30,
      deleted: 90,
      events: null,
      snapshots: 90,
    };
    const snapshots = join(app.dataDir, 'snapshots');
    const counted = async (laterMs: number): Promise<number[]> => {
      app.clock.jump(laterMs);
      await createHousekeeping({ store, log, clock: app.clock, retention, blobs, snapshots }).sweep();
      return ['password_resets', 'invitations', 'sessions', 'accounts', 'memberships'].map(
        (table) => rowsOf(app.dataDir, table).length,
      );
    };
    // The other invitation belongs to the owner.
    expect(await counted(0)).toEqual([1, 2, 1, 1, 1]);
    expect(await counted(30 * minuteMs)).toEqual([0, 2, 1, 1, 1]);
    expect(await counted(7 * dayMs)).toEqual([0, 0, 1, 1, 1]);
    expect((await visitor.get('/account')).to).toStartWith('/sign-in');
    expect(await counted(23 * dayMs)).toEqual([0, 0, 0, 1, 1]);
  } finally {
    await app.stop();
  }
});

function rowsOf<T>(dataDir: string, table: string): T[] {
  using db = new Database(join(dataDir, 'tatami.db'), { readonly: true });
  return db.query<T, []>(`SELECT * FROM ${table}`).all();
}
