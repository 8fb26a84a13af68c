// Trees of Markdown texts. A worker parses them with a time limit, because the parser needs quadratic time for some
// texts, such as those that nest many lists.
import type { Root } from 'mdast';

/** Time for one text. Most texts of 256 KB, the longest of the API, take half of it. */
const limitMs = 8_000;
const treesMax = 200;

interface Job {
  readonly source: string;
  readonly resolve: (tree: Root | null) => void;
}

const jobs: Job[] = [];
const trees = new Map<string, Promise<Root | null>>();
let worker: Worker | null = null;

/** @returns null for a text that is shown as its source, because it has too many parts or takes too long */
export function treeOf(source: string): Promise<Root | null> {
  const known = trees.get(source);
  if (known) return known;
  const tree = new Promise<Root | null>((resolve) => {
    jobs.push({ source, resolve });
    if (jobs.length === 1) runNext();
  });
  trees.set(source, tree);
  if (trees.size > treesMax) trees.delete(trees.keys().next().value!);
  return tree;
}

/** Loads the worker before the first text is known. */
export function startParser(): Worker {
  worker ??= new Worker(document.querySelector<HTMLMetaElement>('meta[name=markdown-worker]')!.content, {
    type: 'module',
  });
  return worker;
}

function runNext(): void {
  const job = jobs[0];
  if (!job) return;
  const running = startParser();
  const end = (tree: Root | null): void => {
    clearTimeout(timer);
    jobs.shift();
    job.resolve(tree);
    runNext();
  };
  const fail = (): void => {
    running.terminate();
    worker = null;
    end(null);
  };
  const timer = setTimeout(fail, limitMs);
  running.onmessage = ({ data }: MessageEvent<Root | null>) => end(data);
  running.onerror = fail;
  running.postMessage(job.source);
}
