// Finds out which tables and indexes damaged pages belong to. The trees are walked here, not by SQLite, so that no damaged page is ever
// read: one that is met makes its tree damaged, and what lies below it is that tree's as well, because every page of a whole tree is met
// in it. https://sqlite.org/fileformat2.html#b_tree_pages
import type { PageFile } from './page-file.ts';

const interiorIndex = 2;
const interiorTable = 5;
const leafIndex = 10;
const leafTable = 13;

/** Page 1 begins with the header of the database. */
const startOf = (page: number): number => (page === 1 ? 100 : 0);

/**
 * Whether a tree is whole: none of its pages, overflow pages included, is damaged, or what it ought not to be.
 * @param root its first page
 */
export function isWholeTree(file: PageFile, root: number, damaged: ReadonlySet<number>): boolean {
  const seen = new Set<number>();
  const open = [root];
  const meet = (page: number): Buffer | null => {
    // Two ways to one page are no tree.
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
  /** The first overflow pages of its cells. */
  readonly chains: readonly number[];
}

/** Null where it is no page of a tree. */
function partsOf(content: Buffer, start: number): Parts | null {
  const kind = content[start] ?? 0;
  const isInterior = kind === interiorIndex || kind === interiorTable;
  if (!isInterior && kind !== leafIndex && kind !== leafTable) return null;
  const cells = cellsOf(content, start + (isInterior ? 12 : 8), content.readUInt16BE(start + 3));
  if (!cells) return null;
  const children = isInterior
    ? [content.readUInt32BE(start + 8), ...cells.map((at) => content.readUInt32BE(at))]
    : [];
  const chains =
    kind === interiorTable
      ? []
      : cells.map((at) => chainOf(content, isInterior ? at + 4 : at, kind === leafTable));
  return { children, chains: chains.filter((chain) => chain !== null) };
}

/** Where the cells begin; null where that is not on the page. */
function cellsOf(content: Buffer, pointers: number, count: number): number[] | null {
  if (pointers + 2 * count > content.length) return null;
  const cells = Array.from({ length: count }, (_, cell) => content.readUInt16BE(pointers + 2 * cell));
  return cells.every((at) => at + 4 <= content.length) ? cells : null;
}

/** The first overflow page of a cell's payload; null where the page holds all of it. */
function chainOf(content: Buffer, at: number, isTable: boolean): number | null {
  // No bytes at the end of a page are set aside: nothing of ours asks for that.
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

/** @returns the value, and where it ends */
function varint(content: Buffer, at: number): [value: number, end: number] {
  let value = 0;
  for (let n = 0; n < 8; n++) {
    const byte = content[at + n] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return [value, at + n + 1];
  }
  return [value * 256 + (content[at + 8] ?? 0), at + 9];
}

export interface Tree {
  readonly name: string;
  readonly root: number;
}

/** All trees of a database whose `sqlite_schema` is whole. https://sqlite.org/fileformat2.html#record_format */
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

/** The row is (type, name, tbl_name, rootpage, sql); what is needed of it comes first, and is never on an overflow page. */
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

/** Of a value by its serial type. The types 8 and 9 are the numbers 0 and 1. */
function bytesOf(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2);
  return [0, 1, 2, 3, 4, 6, 8, 8][type] ?? 0;
}
