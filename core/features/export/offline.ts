// What commands use of this feature without a server: small modules that a command loads quickly.
export { BadRows } from './check.ts';
export { isHead, splitLines } from './lines.ts';
export { insertStatements, takeIn } from './read.ts';
export { linesOf, workspacesIn, type Exported } from './write.ts';
