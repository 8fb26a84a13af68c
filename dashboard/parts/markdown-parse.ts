// Parses Markdown into a tree, in a worker.
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import type { Nodes, Root } from 'mdast';
import { gfm } from 'micromark-extension-gfm';

/**
 * @param nodesMax limit of the parts of a text; more take over a second to show
 * @returns null for a text with more parts
 */
export function parse(source: string, nodesMax = 20_000): Root | null {
  const root = fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const open: Nodes[] = [root];
  for (let count = 1; open.length > 0; count++) {
    if (count > nodesMax) return null;
    const node = open.pop()!;
    // A task is changed at its place in the source. The places of all nodes would be most of the message of a worker.
    if (node.type !== 'listItem' || typeof node.checked !== 'boolean') delete node.position;
    if ('children' in node) open.push(...node.children);
  }
  return root;
}
