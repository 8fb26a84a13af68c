// docs/spec/durability.md › Backups. Other tools read a backup, and a crafted file with valid checksums is rejected and writes nothing outside
// its folder.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { readFacts } from '../store/files/copied-database.ts';
import { openStore } from '../store/open-store.ts';
import { DamagedBackup, encodeManifest, encodeSums, sha256Of, timeOf, type Manifest } from './manifest.ts';
import { packBackup, encodeHeader, endBytes, paddingOf } from './pack.ts';
import { readManifest, unpackBackup } from './unpack.ts';

const parent = mkdtempSync(join(tmpdir(), 'tatami-container-'));
const pathOf = (name: string): string => join(parent, name);
const database = pathOf('data/tatami.db');
const content = Buffer.from('what was attached');
const blob = `blobs/${sha256Of(content)}.zst`;
const archived = 'archive/ws_1/1-500.jsonl.zst';
const good = pathOf('good.backup');
const key = Buffer.from('the key');
let manifest: Manifest;

beforeAll(async () => {
  await openStore(pathOf('data'), Date.now).close();
  writeFileSync(pathOf('content'), content);
  writeFileSync(pathOf('events'), zstdCompressSync('what old events say'));
  const beside = [
    { name: archived, path: pathOf('events') },
    { name: blob, path: pathOf('content') },
  ];
  const facts = { version: 'x', createdAt: '2026-11-22T10:15:02.113Z', ...readFacts(database) };
  ({ manifest } = await packBackup(good, facts, { database, beside, key }, () => undefined));
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** Runs a command. @throws Error with its message if it fails */
function run(command: readonly string[], cwd: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd });
  if (exitCode !== 0 || stderr.length > 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`);
  return stdout.toString('latin1');
}

const tools = ['tar', 'zstd', 'sha256sum'];
test.skipIf(tools.some((tool) => Bun.which(tool) === null))(
  `a backup is inspected and unpacked with ${tools.join(', ')}`,
  () => {
    const names = ['manifest.json', 'tatami.db.zst', archived, blob, 'master.key', 'SHA256SUMS'];
    expect(run(['tar', '-tf', good], parent)).toBe(`${names.join('\n')}\n`);
    const folder = pathOf('by-hand');
    mkdirSync(folder);
    run(['tar', '-xf', good], folder);
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toMatchObject({
      createdAt: manifest.createdAt,
      database: { bytes: statSync(database).size },
    });
    expect(run(['sha256sum', '-c', '--strict', 'SHA256SUMS'], folder).match(/: OK/g)).toHaveLength(5);
    run(['zstd', '-dq', '--rm', 'tatami.db.zst', blob, archived], folder);
    expect(readFileSync(join(folder, 'tatami.db')).equals(readFileSync(database))).toBe(true);
    expect(readFileSync(join(folder, blob.replace('.zst', ''))).equals(content)).toBe(true);
    expect(readFileSync(join(folder, 'master.key')).equals(key)).toBe(true);
  },
);

test.skipIf(Bun.which('tar') === null)('a size above 8 GiB is encoded as tar reads it', () => {
  const path = pathOf('large.tar');
  writeFileSync(path, encodeHeader({ name: 'large', bytes: 2 ** 40 + 5, timeS: 1 }));
  const { stdout } = Bun.spawnSync(['tar', '-tvf', path]);
  expect(stdout.toString()).toContain(` ${2 ** 40 + 5} `);
});

interface CraftedPart {
  readonly name: string;
  readonly content: Buffer;
  /** Changes the header, whose checksum is correct afterwards. */
  readonly change?: (header: Buffer) => void;
  /** Size in the header. */
  readonly bytes?: number;
  /** Size that the manifest declares for the unpacked content. */
  readonly declared?: number;
}

/** Writes a backup with valid checksums. */
function craft(name: string, parts: readonly CraftedPart[], changes: Partial<Manifest> = {}): string {
  const unpackedBytes = parts.reduce((sum, { content, declared = content.length }) => sum + declared, 0);
  const crafted: Manifest = { ...manifest, unpackedBytes, withKey: false, ...changes };
  const head = encodeManifest(crafted);
  const sums = encodeSums(
    new Map(
      [{ name: 'manifest.json', content: head }, ...parts].map((part) => [part.name, sha256Of(part.content)]),
    ),
  );
  const all = [
    { name: 'manifest.json', content: head },
    ...parts,
    { name: 'SHA256SUMS', content: Buffer.from(sums) },
  ];
  const blocks = all.flatMap(({ name, content, change, bytes = content.length }: CraftedPart) => {
    const header = encodeHeader({ name, bytes, timeS: timeOf(manifest) });
    change?.(header);
    header.fill(' ', 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0`, 148, 'latin1');
    return [header, content, Buffer.alloc(paddingOf(content.length))];
  });
  const path = pathOf(`${name}.backup`);
  writeFileSync(path, Buffer.concat([...blocks, Buffer.alloc(endBytes)]));
  return path;
}

const written = (offset: number, text: string) => (header: Buffer) =>
  void header.write(text, offset, 'latin1');
const packed = (name: string, bytes: Buffer): CraftedPart => ({
  ...{ name, content: zstdCompressSync(bytes) },
  declared: bytes.length,
});
const empty = Buffer.alloc(0);
const named = (name: string): CraftedPart => ({ name, content: empty });
const link = (type: string): CraftedPart => ({
  ...named(archived),
  change: (header) => (written(156, type)(header), written(157, '/etc/passwd')(header)),
});

const hostile: Record<string, readonly CraftedPart[]> = {
  'a hard link': [link('1')],
  'a symbolic link': [link('2')],
  'a device': [link('3')],
  'a folder': [link('5')],
  'a pax header': [{ ...named(archived), change: written(156, 'x') }],
  'a long name of GNU tar': [{ ...named(archived), change: written(156, 'L') }],
  'a name with a prefix': [{ ...named(archived), change: written(345, '..') }],
  'a set-user-id mode': [{ ...named(archived), change: written(100, '0004755') }],
  'an owner': [{ ...named(archived), change: written(108, '0001750') }],
  'another time': [{ ...named(archived), change: written(136, '00000000001') }],
  'an absolute name': [named('/tmp/planted')],
  'a name outside the folder': [named('../planted')],
  'a name that leaves the archive': [named('archive/../1-500.jsonl.zst')],
  'a name that leaves the archive later': [named('archive/ws_1/../../../1-500.jsonl.zst')],
  'a name that leaves the blobs': [packed('blobs/../../planted.zst', content)],
  'a name of another file of the data directory': [named('log-head')],
  'a line feed in a name': [named(`${archived}\n`)],
  'the manifest twice': [named('manifest.json')],
  'a size beyond the file': [{ ...named(archived), bytes: 10_000_000 }],
  'a size above 2^53': [{ ...named(archived), change: (header) => void header.fill(0x80, 124, 136) }],
};

/** Returns the paths of all files, except those that SQLite removes when the last connection is collected. */
const allFiles = (): string[] =>
  (readdirSync(parent, { recursive: true }) as string[])
    .filter((name) => !/-(wal|shm)$/.test(name))
    .toSorted();

/** Unpacks a backup that must be rejected. @returns the files that were written */
async function rejected(path: string): Promise<string[]> {
  const before = allFiles();
  const folder = mkdtempSync(pathOf('rejected-'));
  await expect(unpackBackup(path, folder)).rejects.toBeInstanceOf(DamagedBackup);
  const files = readdirSync(folder, { recursive: true }) as string[];
  const sizes = files.map((file) => statSync(join(folder, file)).size);
  expect(Math.max(0, ...sizes)).toBeLessThan(2 * statSync(database).size);
  rmSync(folder, { recursive: true });
  expect(allFiles()).toEqual(before);
  return files;
}
const whole = (): CraftedPart => packed('tatami.db.zst', readFileSync(database));

test.each(Object.keys(hostile))('a backup with %s is rejected before the part is written', async (name) => {
  expect(await rejected(craft(name, [...hostile[name]!, whole()]))).toEqual([]);
});

test('a backup whose parts are not those that the manifest declares is rejected', async () => {
  await rejected(craft('twice', [packed(blob, empty), packed(blob, empty), whole()]));
  await rejected(craft('key', [named('master.key'), whole()]));
  await rejected(craft('no database', []));
  await rejected(craft('after the end', [whole(), { name: 'SHA256SUMS', content: empty }]));
  const large = packed(blob, Buffer.alloc(256 * 1024 * 1024));
  await rejected(craft('large', [{ ...large, declared: 17 }, whole()]));
});

test('a truncated or extended backup and a changed manifest are found without reading the parts', async () => {
  const bytes = readFileSync(good);
  const bad = pathOf('bad.backup');
  const unnoticed: string[] = [];
  const tryOn = async (what: string, content: Buffer): Promise<void> => {
    writeFileSync(bad, content);
    const problem = await readManifest(bad).then(String, (error: unknown) => error);
    if (!(problem instanceof DamagedBackup)) unnoticed.push(what);
  };
  for (let length = 0; length < bytes.length; length += length % 512 === 511 ? 1 : 511)
    await tryOn(`cut at ${length}`, bytes.subarray(0, length));
  for (const added of [1, 512, 1024])
    await tryOn(`${added} zeros added`, Buffer.concat([bytes, Buffer.alloc(added)]));
  for (let at = 0; at < encodeManifest(manifest).length; at += 7) {
    const changed = Buffer.from(bytes);
    changed[512 + at]! ^= 1;
    await tryOn(`byte ${at} of the manifest`, changed);
  }
  expect(unnoticed).toEqual([]);
  expect(await readManifest(good)).toEqual(manifest);
});

test('a crafted backup is accepted if its parts are as declared', async () => {
  const other = [named(archived), packed(blob, content), whole()];
  expect((await unpackBackup(craft('none', other), null)).key).toBeNull();
  const withKey = (bytes: number) =>
    craft(`key of ${bytes}`, [{ name: 'master.key', content: Buffer.alloc(bytes) }, whole()], {
      withKey: true,
    });
  expect((await unpackBackup(withKey(45), null)).key).toHaveLength(45);
  await rejected(withKey(1_000_000));
  const first = craft('not first', [whole()]);
  writeFileSync(first, readFileSync(first).subarray(512));
  await expect(readManifest(first)).rejects.toThrow('is not a backup of Tatami');
});

test('a backup whose content does not fit on the disk is rejected before anything is written', async () => {
  const path = craft('too large', [whole()], { unpackedBytes: 2 ** 50 });
  const folder = pathOf('full');
  mkdirSync(folder);
  await expect(unpackBackup(path, folder)).rejects.toThrow('of free space');
  expect(readdirSync(folder)).toEqual([]);
});
