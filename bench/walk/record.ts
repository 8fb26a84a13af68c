// Preload of `walk/main.ts`: adds a call to each function of `core` that records its file.
import { plugin } from 'bun';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

declare global {
  /** Files of which a function ran; undefined while nothing is recorded. */
  var walked: Set<string> | undefined;
}

const root = join(import.meta.dir, '../..');

plugin({
  name: 'record executed modules',
  setup(build) {
    build.onLoad({ filter: /\/core\/.*\.ts$/ }, ({ path }) => ({
      contents: recording(readFileSync(path, 'utf8'), relative(root, path)),
      loader: 'ts',
    }));
  },
});

/** Inserts the call at the start of each function body. */
function recording(text: string, file: string): string {
  const call = `globalThis.walked?.add(${JSON.stringify(file)})`;
  const inserts: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body))
      inserts.push({ at: node.body.getStart(), text: `(${call}, ` }, { at: node.body.end, text: ')' });
    else if (ts.isFunctionLike(node) && 'body' in node && node.body)
      inserts.push({ at: (node.body as ts.Block).getStart() + 1, text: `${call};` });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  let out = text;
  // At one place, the closing parenthesis of the inner function comes first.
  for (const { at, text: added } of inserts.toSorted(
    (a, b) => b.at - a.at || Number(a.text === ')') - Number(b.text === ')'),
  ))
    out = out.slice(0, at) + added + out.slice(at);
  return out;
}
