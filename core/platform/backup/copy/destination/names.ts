// Object names of a copy. Segment names contain their time, so that a listing alone shows which times are
// covered.
// <installation>/<chain>/chain | base-<number>/<part> | base-<number>/manifest | segments/<index>-<part>of<parts>-<time>-<log position>

/** End of a segment, as stated in its object name. */
export interface CopyMoment {
  readonly index: number;
  readonly timeMs: number;
  /** Log position; null if unknown. */
  readonly position: number | null;
}

const digits = (value: number, width: number): string => String(value).padStart(width, '0');

/** Chain names sort by start time. */
export function chainName(beganMs: number, generation: string, random: string): string {
  const stamp = new Date(beganMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${stamp}-${generation}-${random}`;
}

export const chainRoot = (installation: string, chain: string): string => `${installation}/${chain}/`;
export const chainHeadName = (root: string): string => `${root}chain`;
const baseRoot = (root: string, base: number): string => `${root}base-${digits(base, 6)}/`;
export const basePartName = (root: string, base: number, part: number): string =>
  `${baseRoot(root, base)}${digits(part, 8)}`;
export const manifestName = (root: string, base: number): string => `${baseRoot(root, base)}manifest`;

export function segmentPartName(
  root: string,
  { index, timeMs, position, part, parts }: CopyMoment & { part: number; parts: number },
): string {
  const of = `${digits(part, 6)}of${digits(parts, 6)}`;
  return `${root}segments/${digits(index, 10)}-${of}-${digits(timeMs, 13)}-${position ?? 'x'}`;
}

/** Parsed object name; `other` for an unknown object of a chain. */
export type ParsedName = {
  readonly root: string;
  readonly installation: string | null;
  readonly chain: string;
} & (
  | { readonly is: 'head' | 'other' }
  | { readonly is: 'base'; readonly base: number; readonly part: number | 'manifest' }
  | ({ readonly is: 'segment'; readonly part: number; readonly parts: number } & CopyMoment)
);

const chainPattern = /^((?:([0-9a-f]{32})\/)?(\d{8}T\d{6}Z-[0-9a-f]+-[0-9a-f]{8})\/)(.+)$/;

/** @param name relative to the root of the destination, or to the folder of one installation */
export function parseName(name: string): ParsedName | null {
  const [, root, installation, chain, rest] = chainPattern.exec(name) ?? [];
  if (root === undefined || chain === undefined || rest === undefined) return null;
  const of = { root, installation: installation ?? null, chain };
  return rest === 'chain' ? { ...of, is: 'head' } : { ...of, ...(baseOf(rest) ?? segmentOf(rest) ?? other) };
}

const other = { is: 'other' } as const;

function baseOf(rest: string) {
  const [, base, part] = /^base-(\d{6})\/(\d{8}|manifest)$/.exec(rest) ?? [];
  if (base === undefined || part === undefined) return null;
  const number = part === 'manifest' ? part : Number(part);
  return { is: 'base', base: Number(base), part: number } as const;
}

function segmentOf(rest: string) {
  const groups = /^segments\/(\d{10})-(\d{6})of(\d{6})-(\d{13})-(\d+|x)$/.exec(rest)?.slice(1);
  if (!groups) return null;
  const [index = 0, part = 0, parts = 0, timeMs = 0, position = 0] = groups.map(Number);
  return {
    is: 'segment',
    index,
    part,
    parts,
    timeMs,
    position: Number.isNaN(position) ? null : position,
  } as const;
}
