// Files that are embedded by path: `import path from '…' with { type: 'file' }`.
declare module '*/swagger-ui-bundle.js' {
  const path: string;
  export default path;
}

declare module '*/swagger-ui.css' {
  const path: string;
  export default path;
}
