// Parses Markdown into a tree, in a worker.
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import type { Nodes, Root } from 'mdast';
import { gfm } from 'micromark-extension-gfm';
import { identifier } from '../issue/identifier.ts';

/** Each identifier becomes a link between two texts. */
const linksIn = (value: string): number => value.split(identifier).length - 1;

/**
 * @param nodesMax limit of the parts of a text; more take over a second to show
 * @returns null for a text with more parts
 */
export function parse(source: string, nodesMax = 20_000): Root | null {
  const root = fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const open: Nodes[] = [root];
  for (let count = 1; open.length > 0; count++) {
    const node = open.pop()!;
    // A task is changed at its place in the source. The places of all nodes would be most of the message of a worker.
    if (node.type !== 'listItem' || typeof node.checked !== 'boolean') delete node.position;
    if (node.type === 'text') count += linksIn(node.value);
    if ('children' in node) open.push(...node.children);
    if (count > nodesMax) return null;
  }
  return root;
}
