// The browser build has no types of its own. It is imported by its path, because the default entry needs Node.
declare module 'liquidjs/dist/liquid.browser.mjs' {
  export * from 'liquidjs';
}
