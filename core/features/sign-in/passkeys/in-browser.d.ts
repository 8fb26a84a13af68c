/** `pages.ts` imports `in-browser.js` as text. */
declare const script: string;
export default script;
