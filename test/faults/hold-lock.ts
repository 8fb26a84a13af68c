// Another process on the database file: holds the write lock for a while, or takes it a thousand times. Arguments:
// database, milliseconds to hold, times.
import Database from 'libsql';

const [path = '', holdMs = '0', times = '1'] = process.argv.slice(2);
const db = new Database(path);
for (let i = 0; i < Number(times); i++) {
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch {
    continue;
  }
  if (i === 0) console.log('held');
  if (Number(holdMs) > 0) Bun.sleepSync(Number(holdMs));
  db.exec('ROLLBACK');
}
db.close();
