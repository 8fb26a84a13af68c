// Posts, edits and deletes an update of a project. Updates of others cannot be changed.
import { api, target, until } from '../browser.ts';
import type { Visit } from './visit.ts';

export async function projectSteps({ page, go, look, escape, message, problems }: Visit): Promise<object> {
  const project = target.ids['project']!;
  await api('POST', `/projects/${project}/project-updates`, { health: 'at_risk', body: 'By somebody else' });
  await go(`/projects/${project}`);
  const bodies = async (): Promise<readonly string[]> =>
    (await api<{ data: { body: string }[] }>('GET', `/projects/${project}/project-updates`)).data.map(
      ({ body }) => body,
    );
  const cards = page.getByRole('list', { name: 'Updates' }).getByRole('listitem');
  const post = page.getByRole('button', { name: 'Post update' });

  await post.press('Enter');
  await escape('Post update');
  await post.press('Enter');
  const posting = await look('Post update');
  await posting.getByLabel('Update').fill('x'.repeat(70_000));
  await posting.getByRole('button', { name: 'Post update' }).press('Enter');
  const field = posting.getByRole('textbox', { name: 'Update', description: /at most 65536/ });
  await field.waitFor();
  await look('Post update');
  await field.fill('All **well**');
  await posting.getByRole('button', { name: 'Post update' }).press('Enter');
  await cards.getByText('well', { exact: true }).waitFor();

  const edit = page.getByRole('button', { name: 'Edit update' });
  await edit.press('Enter');
  const editing = await look('Edit update');
  await editing.getByLabel('Update').fill('All is done');
  await editing.getByRole('button', { name: 'Save' }).press('Enter');
  await cards.getByText('All is done').waitFor();
  const edited = await bodies();

  const others = await cards.filter({ hasText: 'By somebody else' }).getByRole('button').count();
  await page.getByRole('button', { name: 'Delete update' }).press('Enter');
  await escape('Delete update');
  await page.getByRole('button', { name: 'Delete update' }).press('Enter');
  const deleting = await look('Delete update');
  await deleting.getByRole('button', { name: 'Delete' }).press('Enter');
  await message('The update was deleted.');
  await until(async () => (await cards.count()) === 1, 'the update is gone');
  if (await post.evaluate((button) => button !== document.activeElement)) problems.push('The focus is lost');
  return { edited, others, deleted: await bodies() };
}
