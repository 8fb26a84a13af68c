// Trees of Markdown texts. A worker parses them with a time limit, because the parser needs quadratic time for some
// texts, such as those that nest many lists.
import type { Root } from 'mdast';
import { useEffect, useState } from 'react';

/** Most texts of 64 KB take a fifth of it. */
const limitMs = 3_000;
const treesMax = 200;

/** Null for a text that is shown as its source, because it has too many parts or takes too long. */
type Tree = Root | null;

interface Job {
  readonly source: string;
  readonly receivers: Set<(tree: Tree) => void>;
}

/** Trees of texts that were shown before. */
const trees = new Map<string, Tree>();
/** Texts that a screen shows, in their order. The worker parses the first one. */
const jobs: Job[] = [];
let worker: Worker | null = null;

/** @returns undefined until the text is parsed */
export function useTree(source: string): Tree | undefined {
  const [parsed, setParsed] = useState<{ readonly source: string; readonly tree: Tree } | null>(null);
  useEffect(() => {
    if (trees.has(source)) return undefined;
    return requestTree(source, (tree) => setParsed({ source, tree }));
  }, [source]);
  return parsed?.source === source ? parsed.tree : trees.get(source);
}

/** @returns a function that withdraws the request, so that a text that is no longer shown delays no other */
function requestTree(source: string, receive: (tree: Tree) => void): () => void {
  let job = jobs.find((one) => one.source === source);
  if (!job) jobs.push((job = { source, receivers: new Set() }));
  job.receivers.add(receive);
  if (jobs.length === 1) runNext();
  const { receivers } = job;
  return () => {
    receivers.delete(receive);
    const waiting = jobs.findIndex((one, at) => at > 0 && one.receivers.size === 0);
    if (waiting > 0) jobs.splice(waiting, 1);
  };
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
  const end = (tree: Tree): void => {
    clearTimeout(timer);
    jobs.shift();
    trees.set(job.source, tree);
    if (trees.size > treesMax) trees.delete(trees.keys().next().value!);
    for (const receive of job.receivers) receive(tree);
    runNext();
  };
  const fail = (): void => {
    running.terminate();
    worker = null;
    end(null);
  };
  const timer = setTimeout(fail, limitMs);
  running.onmessage = ({ data }: MessageEvent<Tree>) => end(data);
  running.onerror = fail;
  running.postMessage(job.source);
}
