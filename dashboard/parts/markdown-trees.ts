// Trees of Markdown texts: short texts are parsed at once, long ones by a worker with a time limit.
import type { Root } from 'mdast';
import { parse } from './markdown-parse.ts';

/** A text of this many characters takes at most some 50 ms of CPU, whatever it contains. */
const shortMax = 400;
/** Time for a text of the worker. Most texts of 256 KB, the longest of the API, take half of it. */
const limitMs = 8_000;
const treesMax = 200;

interface Job {
  readonly source: string;
  readonly resolve: (tree: Root | null) => void;
}

type Tree = Root | null | Promise<Root | null>;

const jobs: Job[] = [];
const trees = new Map<string, Tree>();
let worker: Worker | null = null;

/** @returns null for a text that is shown as its source, because it has too many parts or takes too long */
export function treeOf(source: string): Tree {
  const known = trees.get(source);
  if (known !== undefined) return known;
  const tree = source.length <= shortMax ? parse(source) : parsedByWorker(source);
  trees.set(source, tree);
  if (trees.size > treesMax) trees.delete(trees.keys().next().value!);
  return tree;
}

function parsedByWorker(source: string): Promise<Root | null> {
  return new Promise((resolve) => {
    jobs.push({ source, resolve });
    if (jobs.length === 1) runNext();
  });
}

function runNext(): void {
  const job = jobs[0];
  if (!job) return;
  worker ??= new Worker(document.querySelector<HTMLMetaElement>('meta[name=markdown-worker]')!.content, {
    type: 'module',
  });
  const end = (tree: Root | null): void => {
    clearTimeout(timer);
    jobs.shift();
    job.resolve(tree);
    runNext();
  };
  const fail = (): void => {
    worker?.terminate();
    worker = null;
    end(null);
  };
  const timer = setTimeout(fail, limitMs);
  worker.onmessage = ({ data }: MessageEvent<Root | null>) => end(data);
  worker.onerror = fail;
  worker.postMessage(job.source);
}
