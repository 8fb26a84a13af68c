// Determines which tables and indexes own damaged pages. Traverses the b-trees without SQLite, so that no
// damaged page is ever read: a damaged page makes its tree damaged, including everything below it, because a
// tree is intact only if each of its pages was visited. https://sqlite.org/fileformat2.html#b_tree_pages
import type { PageFile } from './page-file.ts';

const interiorIndex = 2;
const interiorTable = 5;
const leafIndex = 10;
const leafTable = 13;

/** Page 1 starts with the database header. */
const startOf = (page: number): number => (page === 1 ? 100 : 0);

interface Tree {
  readonly name: string;
  readonly root: number;
}

/** Returns all trees of a database whose `sqlite_schema` is intact. https://sqlite.org/fileformat2.html#record_format */
export function schemaOf(file: PageFile): Tree[] {
  const trees: Tree[] = [{ name: 'sqlite_schema', root: 1 }];
  const open = [1];
  for (let page = open.pop(); page !== undefined; page = open.pop()) {
    const content = file.read(page);
    const parts = content && partsOf(content, startOf(page));
    if (!content || !parts) continue;
    open.push(...parts.children);
    if (content[startOf(page)] !== leafTable) continue;
    const cells = cellsOf(content, startOf(page) + 8, content.readUInt16BE(startOf(page) + 3)) ?? [];
    for (const at of cells) {
      const tree = treeOf(content, at);
      if (tree.root > 0) trees.push(tree);
    }
  }
  return trees;
}

/** The row is (type, name, tbl_name, rootpage, sql); the needed columns come first and are never on an overflow page. */
function treeOf(content: Buffer, at: number): Tree {
  const [, afterLength] = varint(content, at);
  const [, start] = varint(content, afterLength);
  const [headerBytes, types] = varint(content, start);
  let [next, value] = [types, start + headerBytes];
  const column = (): Buffer => {
    const [type, end] = varint(content, next);
    const from = value;
    next = end;
    value += bytesOf(type);
    return content.subarray(from, value);
  };
  column();
  const name = column().toString();
  column();
  const root = column();
  return { name, root: root.length === 0 ? 0 : root.readUIntBE(0, Math.min(6, root.length)) };
}

/** Returns the size of a value by its serial type. The types 8 and 9 are the constants 0 and 1. */
function bytesOf(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2);
  return [0, 1, 2, 3, 4, 6, 8, 8][type] ?? 0;
}

/** Returns true if no page of a tree, overflow pages included, is damaged or of a wrong type. @param root first page of the tree */
export function isWholeTree(file: PageFile, root: number, damaged: ReadonlySet<number>): boolean {
  const seen = new Set<number>();
  const open = [root];
  const meet = (page: number): Buffer | null => {
    // A page that is reached twice indicates damage.
    if (damaged.has(page) || seen.has(page)) return null;
    seen.add(page);
    return file.read(page);
  };
  for (let page = open.pop(); page !== undefined; page = open.pop()) {
    const content = meet(page);
    const parts = content && partsOf(content, startOf(page));
    if (!parts) return false;
    open.push(...parts.children);
    if (!parts.chains.every((chain) => isWholeChain(chain, meet))) return false;
  }
  return true;
}

function isWholeChain(first: number, meet: (page: number) => Buffer | null): boolean {
  for (let page = first; page !== 0;) {
    const content = meet(page);
    if (!content) return false;
    page = content.readUInt32BE(0);
  }
  return true;
}

interface Parts {
  readonly children: readonly number[];
  /** First overflow pages of the cells. */
  readonly chains: readonly number[];
}

/** Returns null if the page is not a b-tree page. */
function partsOf(content: Buffer, start: number): Parts | null {
  const pageType = content[start] ?? 0;
  const isInterior = pageType === interiorIndex || pageType === interiorTable;
  if (!isInterior && pageType !== leafIndex && pageType !== leafTable) return null;
  const cells = cellsOf(content, start + (isInterior ? 12 : 8), content.readUInt16BE(start + 3));
  if (!cells) return null;
  const children = isInterior
    ? [content.readUInt32BE(start + 8), ...cells.map((at) => content.readUInt32BE(at))]
    : [];
  const chains =
    pageType === interiorTable
      ? []
      : cells.map((at) => chainOf(content, isInterior ? at + 4 : at, pageType === leafTable));
  return { children, chains: chains.filter((chain) => chain !== null) };
}

/** Returns the cell offsets; null if any is outside the page. */
function cellsOf(content: Buffer, pointers: number, count: number): number[] | null {
  if (pointers + 2 * count > content.length) return null;
  const cells = Array.from({ length: count }, (_, cell) => content.readUInt16BE(pointers + 2 * cell));
  return cells.every((at) => at + 4 <= content.length) ? cells : null;
}

/** Returns the first overflow page of a cell's payload; null if the page holds the whole payload, 0 if the cell is invalid. */
function chainOf(content: Buffer, at: number, isTable: boolean): number | null {
  // Tatami reserves no bytes at the end of a page.
  const usable = content.length;
  const [payload, afterLength] = varint(content, at);
  const start = isTable ? varint(content, afterLength)[1] : afterLength;
  const most = isTable ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23;
  if (payload <= most) return null;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const wanted = least + ((payload - least) % (usable - 4));
  const local = wanted <= most ? wanted : least;
  return start + local + 4 <= usable ? content.readUInt32BE(start + local) : 0;
}

/** @returns the value, and the offset after it */
function varint(content: Buffer, at: number): [value: number, end: number] {
  let value = 0;
  for (let n = 0; n < 8; n++) {
    const byte = content[at + n] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return [value, at + n + 1];
  }
  return [value * 256 + (content[at + 8] ?? 0), at + 9];
}
