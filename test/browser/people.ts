// Visits pages of a server in a browser, records its console errors, and checks pages with axe. Runs under
// Node; tests under Bun start it with `runInNode`.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Browser errors about a page: blocked scripts and styles, failed requests and exceptions. */
  readonly complaints: string[];
  /** Waits until the web app shows its data. Other pages need no wait. */
  settle(): Promise<void>;
  /**
   * Returns the axe violations of the current page as `rule: target`. The evaluation bypasses the content
   * security policy of the page, which stays on, and needs a browser with scripts enabled.
   */
  violations(): Promise<string[]>;
  /** Presses a button and waits for the next page. */
  press(name: string | RegExp): Promise<void>;
  close(): Promise<void>;
}

/** Opens a separate browser context for a person. @param isScripted false disables JavaScript */
export async function visitAs(browser: Browser, { isScripted = true } = {}): Promise<Visit> {
  const context = await browser.newContext({
    javaScriptEnabled: isScripted,
    viewport: { width: 1024, height: 900 },
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (said) => {
    if (said.type() === 'error' || said.type() === 'warning') complaints.push(said.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => {
    // A browser cancels the requests of a page that it leaves, such as the event stream of the web app.
    const { errorText } = request.failure() ?? {};
    if (errorText !== 'net::ERR_ABORTED') complaints.push(`${request.url()} failed: ${errorText}`);
  });
  return {
    context,
    page,
    complaints,
    async settle() {
      if ((await page.locator('#app').count()) === 0) return;
      await page.locator('main h1').first().waitFor({ state: 'attached' });
      await isSettled(page);
    },
    violations: () => violationsOf(context, page),
    async press(name) {
      const next = page.waitForEvent('load');
      await page.getByRole('button', { name }).first().click();
      await next;
    },
    close: () => context.close(),
  };
}

/** Waits until the web app is connected to the event stream and has loaded everything. */
export async function isSettled(page: Page): Promise<void> {
  await page.locator('html[data-connection=live][data-loading="0"]').waitFor({ state: 'attached' });
}

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Rules of WCAG 2.2 up to level AA, and the best practices of axe. */
const runOf = (rule: string | undefined, within: string | undefined): string => {
  const only = rule === undefined ? '' : `runOnly: { type: 'rule', values: ['${rule}'] }, `;
  const part = within === undefined ? 'document' : `document.querySelector('${within}')`;
  return `axe.run(${part}, { ${only}resultTypes: ['violations'] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;
};

/**
 * Uses the inspector protocol, because the content security policy of the page rejects injected scripts of
 * Playwright.
 * @param rule the only rule to check; by default all
 * @param within selector of the part of the page to check; by default all of it
 */
export async function violationsOf(
  context: BrowserContext,
  page: Page,
  rule?: string,
  within?: string,
): Promise<string[]> {
  const inspector = await context.newCDPSession(page);
  try {
    const evaluate = async (expression: string): Promise<unknown> => {
      const { result, exceptionDetails } = await inspector.send('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails) throw new Error(`axe failed: ${exceptionDetails.exception?.description}`);
      return result.value;
    };
    // The browser needs longer to read axe than axe to check a page.
    const run = runOf(rule, within);
    const found = await evaluate(`typeof axe === 'undefined' ? null : ${run}`);
    return (found ?? (await evaluate(`${axe};\n${run}`))) as string[];
  } finally {
    await inspector.detach();
  }
}
