// Exports for commands that work without a server: small modules that load quickly.
export { BadRows } from './check.ts';
export { isHead, splitLines } from './lines.ts';
export { insertStatements, takeIn } from './read.ts';
export { linesOf, workspacesIn, type Exported } from './write.ts';
