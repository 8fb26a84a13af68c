// Shows texts that attack, restarts the server under an open page, lowers the role of the person, and lets two people
// edit the same text. Prints what the page did.
import type { Page } from 'playwright-core';
import { isSettled } from '../browser/people.ts';
import { api, openDriver, say, target } from './browser.ts';

const driver = await openDriver();
const results: Record<string, unknown> = {};

const attacks = [
  '<script>globalThis.attacked = 1</script>',
  '<img src=x onerror="globalThis.attacked = 1">',
  '"><svg onload="globalThis.attacked = 1">',
  '[x](javascript:globalThis.attacked=1)',
  '![x](javascript:globalThis.attacked=1)',
  '<a href="javascript:globalThis.attacked = 1">x</a>',
  '{{constructor.constructor("globalThis.attacked = 1")()}}',
];
const attack = attacks.join(' ');

const { identifier } = await api('POST', '/issues', {
  team: 'ENG',
  title: attack.slice(0, 500),
  description: attacks.join('\n\n'),
});
await api('POST', `/issues/${identifier}/comments`, { body: attacks.join('\n\n') });
await api('POST', '/labels', { name: attacks[1]! });
await api('PATCH', `/issues/${identifier}`, { labels: [attacks[1]!] });
await api('POST', '/projects', { name: attacks[2]!, description: attack });
await api('POST', '/boards', { name: attacks[0]! });
await api('POST', '/views', { name: attacks[2]!, visibility: 'shared', filter: {} });
await api('POST', `/issues/${identifier}/attachments`, {
  title: attacks[1]!,
  url: 'https://example.com/<script>',
});

const tab = await driver.open(`/issues/${identifier}`);
const { page } = tab;
const links: string[] = [];
for (const path of [`/issues/${identifier}`, '/issues', '/projects', '/boards', '/audit-log', '/inbox']) {
  await page.goto(target.url + path);
  await isSettled(page);
  links.push(
    ...(await page.locator('a').evaluateAll((all) => all.map((a) => (a as { href?: string }).href ?? ''))),
  );
}
await page.keyboard.press('Control+k');
await page.getByRole('dialog', { name: 'Command palette' }).getByRole('combobox').fill('script');
await page.getByRole('option').first().waitFor();
results.attacked = await page.evaluate(() => (globalThis as { attacked?: number }).attacked ?? 0);
results.unsafeLinks = links.filter((link) => !/^https?:|^mailto:/.test(link));

/** Saves the description as this page shows it. */
async function startEdit(of: Page, text: string): Promise<void> {
  await of.getByRole('button', { name: 'Edit description' }).click();
  await of.getByRole('textbox', { name: 'Description' }).fill(text);
}

// An edit of the description never overwrites one that somebody else made meanwhile.
await page.goto(`${target.url}/issues/ENG-20`);
await isSettled(page);
await startEdit(page, 'Mine');
await api('PATCH', '/issues/ENG-20', { description: 'Theirs' });
await page.getByRole('button', { name: 'Save', exact: true }).click();
await page.getByRole('alert').getByText('Theirs').waitFor();
results.kept = await page.getByRole('textbox', { name: 'Description' }).inputValue();
results.stored = (await api<{ description: string }>('GET', '/issues/ENG-20')).description;
await page.getByRole('button', { name: 'Save', exact: true }).click();
await page.getByRole('button', { name: 'Edit description' }).waitFor();
results.saved = (await api<{ description: string }>('GET', '/issues/ENG-20')).description;
const complaints = tab.complaints.filter((one) => !/4(04|12)/.test(one));

// A restart of the server: the page connects again and misses nothing.
await page.goto(`${target.url}/issues`);
await isSettled(page);
await fetch(`${target.control}/restart`);
await api('POST', '/issues', { team: 'ENG', title: 'After the restart' });
await page.getByRole('row', { name: /After the restart/ }).waitFor();
results.afterRestart = true;

// A guest may not create issues of others: the page tells so, and what was typed stays.
await api('PATCH', `/members/${target.member}`, { role: 'guest' });
await page.locator('html[data-connection=live]').waitFor({ state: 'attached' });
await page.goto(`${target.url}/api-keys`);
await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
await page.goto(`${target.url}/webhooks`);
results.guest = await page.getByRole('alert').first().innerText();
await api('PATCH', `/members/${target.member}`, { role: 'admin' });

await driver.browser.close();
say({ ...results, complaints });
