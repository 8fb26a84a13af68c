// Visits pages of a server in a browser, records its console errors, and checks pages with axe. Runs under
// Node; tests under Bun start it with `runInNode`.
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Browser errors about a page: blocked scripts and styles, failed requests and exceptions. */
  readonly complaints: string[];
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
  page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
  return {
    context,
    page,
    complaints,
    violations: () => violationsOf(context, page),
    async press(name) {
      const next = page.waitForEvent('load');
      await page.getByRole('button', { name }).first().click();
      await next;
    },
    close: () => context.close(),
  };
}

/** Rules of WCAG 2.2 up to level AA, and the best practices of axe. */
const run = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;

/**
 * Uses the inspector protocol, because the content security policy of the page rejects injected scripts of
 * Playwright.
 */
export async function violationsOf(context: BrowserContext, page: Page): Promise<string[]> {
  const inspector = await context.newCDPSession(page);
  try {
    const { result, exceptionDetails } = await inspector.send('Runtime.evaluate', {
      expression: `${axe.source};\n${run}`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(`axe failed: ${exceptionDetails.exception?.description}`);
    return result.value as string[];
  } finally {
    await inspector.detach();
  }
}
