// Files that are embedded by path: `import path from '…' with { type: 'file' }`.
declare module '*/standalone.js' {
  const path: string;
  export default path;
}
