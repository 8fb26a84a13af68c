// A person at the planning screens: opens screens and dialogs, and notes what is wrong with a dialog. Runs under Node.
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { isSettled } from '../../browser/people.ts';
import { openDriver, phone, target, type Tab } from '../browser.ts';

export interface Visit {
  readonly page: Page;
  /** Violations of axe, dialogs that do not fit a phone, dialogs that lose the focus, and errors of the browser. */
  readonly problems: string[];
  /** Opens a screen and waits until it shows its data. */
  go(path: string): Promise<void>;
  /** Waits for an open dialog and checks it in both themes and on a phone. */
  look(title: string | RegExp): Promise<Locator>;
  /** Closes a dialog by key, and checks that the focus returns. */
  escape(title: string | RegExp): Promise<void>;
  /** Waits for a message. */
  message(text: string | RegExp): Promise<void>;
  end(): Promise<void>;
}

const screen = { width: 1280, height: 800 };

/** Elements of a dialog that are wider than it. */
const isWide = (dialog: Locator): Promise<boolean> =>
  dialog.evaluate((element) => {
    const { left, right } = element.getBoundingClientRect();
    return left < 0 || right > innerWidth || element.scrollWidth > element.clientWidth;
  });

/** @param shots folder for pictures of the dialogs */
export async function visit(shots?: string): Promise<Visit> {
  const driver = await openDriver();
  const tab: Tab = await driver.open('/welcome');
  const { page } = tab;
  const problems: string[] = [];
  const shoot = async (name: string): Promise<void> => {
    if (shots !== undefined)
      await page.screenshot({ path: join(shots, `${name.replaceAll(/\W+/g, '-')}.png`) });
  };
  return {
    page,
    problems,
    async go(path) {
      await page.goto(target.url + path);
      await page.locator('main h1').first().waitFor({ state: 'attached' });
      await isSettled(page);
    },
    async look(title) {
      const dialog = page.getByRole('dialog', { name: title });
      await dialog.waitFor();
      await isSettled(page);
      const note = (theme: string, found: readonly string[]): void =>
        void problems.push(...found.map((violation) => `${String(title)} ${theme}: ${violation}`));
      note('light', await tab.violations(undefined, '[role=dialog]'));
      await page.emulateMedia({ colorScheme: 'dark' });
      note('dark', await tab.violations('color-contrast', '[role=dialog]'));
      await shoot(`${String(title)} dark`);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(phone.viewport!);
      if (await isWide(dialog)) problems.push(`${String(title)} is too wide`);
      await shoot(`${String(title)} phone`);
      await page.setViewportSize(screen);
      return dialog;
    },
    async escape(title) {
      const dialog = page.getByRole('dialog', { name: title });
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      const has = await page.evaluate(() => document.activeElement?.tagName);
      if (has === 'BODY') problems.push(`${String(title)} lost the focus`);
    },
    message: (text) => page.getByRole('status').getByText(text).first().waitFor(),
    async end() {
      // The browser reports each rejection of the server.
      problems.push(...tab.complaints.filter((one) => !/status of 4(04|22)/.test(one)));
      await driver.browser.close();
    },
  };
}
